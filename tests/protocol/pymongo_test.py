"""Braid through pymongo: what Python programs do with it. Run by clients.test.mjs, or alone: python3 tests/protocol/pymongo_test.py"""
import datetime
import decimal
import pathlib
import re
import sys
import unittest
import uuid

import bson
import gridfs
import pymongo
from bson.binary import STANDARD
from bson.codec_options import CodecOptions
from bson.decimal128 import Decimal128
from pymongo import errors
from pymongo.operations import DeleteMany, IndexModel, InsertOne, ReplaceOne, UpdateMany, UpdateOne

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from pymongo_case import PymongoCase  # noqa: E402


class PymongoTest(PymongoCase):
    def test_connects_to_a_mongos(self):
        self.assertTrue(self.client.is_mongos)
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)
        self.assertTrue(self.client.server_info()["version"].startswith("7.0"))

    def test_every_type_comes_back(self):
        document = {
            "_id": bson.ObjectId(), "double": 1.5, "text": "ä€😀", "none": None, "yes": True, "int": 2**31 - 1,
            "long": bson.Int64(2**62), "date": datetime.datetime(2020, 1, 2, 3, 4, 5, 678000), "binary": b"\x00\xff",
            "uuid": bson.Binary(uuid.UUID(int=7).bytes, 4), "regex": bson.Regex("^a", "i"),
            "decimal": Decimal128(decimal.Decimal("1.10")), "stamp": bson.Timestamp(7, 9), "min": bson.MinKey(),
            "max": bson.MaxKey(), "code": bson.Code("x"), "list": [1, [2], {"a": []}], "sub": {"b": {}},
        }
        self.c.insert_one(document)
        found = self.c.with_options(CodecOptions(uuid_representation=STANDARD)).find_one()
        self.assertEqual(found.pop("uuid"), uuid.UUID(int=7))
        del document["uuid"]
        self.assertEqual(found, document)
        self.assertEqual(list(found), list(document))

    def test_crud(self):
        self.assertEqual(self.c.insert_many([{"_id": i, "n": i} for i in range(10)]).inserted_ids, list(range(10)))
        self.assertEqual(self.c.update_one({"_id": 3}, {"$inc": {"n": 7}}).modified_count, 1)
        self.assertEqual(self.c.update_many({"n": {"$gte": 8}}, {"$set": {"big": True}}).modified_count, 3)
        self.assertEqual(self.c.replace_one({"_id": 77}, {"x": 1}, upsert=True).upserted_id, 77)
        self.assertEqual(self.c.delete_many({"big": True}).deleted_count, 3)
        self.assertEqual(self.c.find_one_and_update({"_id": 0}, {"$set": {"n": 5}}, return_document=True), {"_id": 0, "n": 5})
        self.assertEqual(self.c.find_one_and_delete({"_id": 77}), {"_id": 77, "x": 1})
        self.assertEqual([d["_id"] for d in self.c.find().sort("_id", -1)], [7, 6, 5, 4, 2, 1, 0])
        self.assertEqual(self.c.count_documents({"n": 5}), 2)
        self.assertEqual(self.c.estimated_document_count(), 7)
        self.assertEqual(sorted(self.c.distinct("n")), [1, 2, 4, 5, 6, 7])

    def test_bulk(self):
        result = self.c.bulk_write([
            InsertOne({"_id": 1}), InsertOne({"_id": 2}), UpdateOne({"_id": 1}, {"$set": {"a": 1}}),
            UpdateMany({}, {"$inc": {"n": 1}}), ReplaceOne({"_id": 9}, {"r": 1}, upsert=True), DeleteMany({"a": 1}),
        ])
        self.assertEqual((result.inserted_count, result.modified_count, result.upserted_ids, result.deleted_count), (2, 3, {4: 9}, 1))
        with self.assertRaises(errors.BulkWriteError) as context:
            self.c.bulk_write([InsertOne({"_id": 2}), InsertOne({"_id": 3}), InsertOne({"_id": 9})], ordered=False)
        self.assertEqual([e["index"] for e in context.exception.details["writeErrors"]], [0, 2])
        self.assertEqual(context.exception.details["nInserted"], 1)

    def test_large_batches_page_through_cursors(self):
        self.c.insert_many([{"_id": i, "pad": "x" * 100} for i in range(5000)])
        self.assertEqual(sum(1 for _ in self.c.find(batch_size=77)), 5000)
        cursor = self.c.find(batch_size=2)
        next(cursor)
        cursor.close()
        self.assertEqual(len(list(self.c.find().limit(5).skip(4998))), 2)

    def test_aggregate(self):
        self.c.insert_many([{"k": i % 3, "v": i} for i in range(9)])
        rows = list(self.c.aggregate([{"$group": {"_id": "$k", "sum": {"$sum": "$v"}}}, {"$sort": {"_id": 1}}]))
        self.assertEqual(rows, [{"_id": 0, "sum": 9}, {"_id": 1, "sum": 12}, {"_id": 2, "sum": 15}])

    def test_indexes(self):
        self.c.create_indexes([IndexModel([("a", 1), ("b", -1)], unique=True), IndexModel([("t", 1)], expireAfterSeconds=10)])
        information = self.c.index_information()
        self.assertEqual(information["a_1_b_-1"]["unique"], True)
        self.assertEqual(information["t_1"]["expireAfterSeconds"], 10)
        self.c.insert_one({"a": 1, "b": 1})
        error = self.fails(11000, self.c.insert_one, {"a": 1, "b": 1})
        self.assertEqual(error.details["keyValue"], {"a": 1, "b": 1})
        plan = self.c.find({"a": 1}).explain()["queryPlanner"]["winningPlan"]["shards"][0]["winningPlan"]
        self.assertEqual(plan["inputStage"]["indexName"], "a_1_b_-1")
        self.c.drop_index("t_1")
        self.assertEqual(sorted(self.c.index_information()), ["_id_", "a_1_b_-1"])

    def test_sessions(self):
        with self.client.start_session(causal_consistency=True) as session:
            self.c.insert_one({"_id": 1}, session=session)
            self.assertEqual(self.c.find_one({}, session=session), {"_id": 1})
            self.assertIsNotNone(session.operation_time)
            self.assertIsNotNone(session.cluster_time)
        with self.client.start_session() as session:
            with session.start_transaction():
                self.c.insert_one({"_id": 2}, session=session)
                self.assertEqual(self.c.count_documents({}), 1)
                self.assertEqual(self.c.count_documents({}, session=session), 2)
        self.assertEqual(self.c.count_documents({}), 2)

    def test_gridfs(self):
        files = gridfs.GridFS(self.db, "files")
        content = bytes(range(256)) * 4096
        key = files.put(content, filename="a.bin", metadata={"n": 1})
        self.assertEqual(files.get(key).read(), content)
        self.assertEqual(files.get(key).length, len(content))
        newer = files.put(b"second", filename="a.bin")
        self.assertEqual(files.get_last_version("a.bin").read(), b"second")
        self.assertEqual(files.get_version("a.bin", 0).read(), content)
        self.assertEqual(files.list(), ["a.bin"])
        bucket = gridfs.GridFSBucket(self.db, "files")
        stream = bucket.open_download_stream(key)
        stream.seek(300000)
        self.assertEqual(stream.read(10), content[300000:300010])
        files.delete(key)
        self.assertFalse(files.exists(key))
        self.assertEqual(self.db["files.chunks"].count_documents({"files_id": key}), 0)
        self.assertTrue(files.exists(newer))

    def test_errors(self):
        self.fails(59, self.db.command, "nosuch")
        self.fails(2, self.c.find_one, {"a": {"$bogus": 1}})
        self.c.insert_one({"_id": 1, "a": "x"})
        self.fails(14, self.c.update_one, {"_id": 1}, {"$inc": {"a": 1}})
        self.fails(40324, self.c.aggregate, [{"$bogus": 1}])
        with self.assertRaises(errors.DuplicateKeyError):
            self.c.insert_one({"_id": 1})

    def test_zlib(self):
        client = pymongo.MongoClient(self.server.uri, compressors="zlib", zlibCompressionLevel=9)
        text = "compress " * 100000
        client.py.zlib.insert_one({"_id": 1, "text": text})
        self.assertEqual(client.py.zlib.find_one()["text"], text)
        client.close()

    def test_write_concerns(self):
        unacknowledged = self.c.with_options(write_concern=pymongo.WriteConcern(w=0))
        self.assertFalse(unacknowledged.insert_one({"_id": 1}).acknowledged)
        for concern in ({"w": 1, "j": False}, {"w": 1, "j": True}, {"w": "majority"}):
            self.assertTrue(self.c.with_options(write_concern=pymongo.WriteConcern(**concern)).insert_one({}).acknowledged)
        while self.c.count_documents({}) < 4:
            pass

    def test_lists_and_drops(self):
        self.c.insert_one({})
        self.assertIn("py", self.client.list_database_names())
        self.assertIn(self.c.name, self.db.list_collection_names())
        self.assertEqual(self.db.list_collection_names(filter={"name": re.compile("^nosuch")}), [])
        self.c.rename("renamed")
        self.assertEqual(self.db.renamed.count_documents({}), 1)
        self.db.drop_collection("renamed")
        self.assertNotIn("renamed", self.db.list_collection_names())
        self.c.insert_one({})
        self.assertTrue(self.db.validate_collection(self.c.name)["valid"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
