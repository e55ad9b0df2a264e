"""Transactions, retryable writes and sessions through pymongo. Run by clients.test.mjs, or alone: python3 tests/protocol/transactions_pymongo_test.py"""
import pathlib
import socket
import struct
import sys
import threading
import unittest
import uuid

import bson
import pymongo
from pymongo import errors
from pymongo.operations import DeleteOne, InsertOne, UpdateOne
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from pymongo_case import PymongoCase  # noqa: E402

TRANSIENT = "TransientTransactionError"


class TransactionsTest(PymongoCase):
    options = ("--test-commands", "--shards", "3")

    def ids(self, **kwargs):
        return [d["_id"] for d in self.c.find({}, **kwargs).sort("_id")]

    def fail_point(self, **data):
        self.client.admin.command({"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": data})

    def test_commit_and_abort(self):
        self.c.insert_one({"_id": 0})
        with self.client.start_session() as session:
            with session.start_transaction(read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority")):
                self.c.insert_many([{"_id": 1}, {"_id": 2}], session=session)
                self.c.update_one({"_id": 0}, {"$set": {"a": 1}}, session=session)
                self.assertEqual(self.ids(session=session), [0, 1, 2])
                self.assertEqual(self.ids(), [0])
            self.assertEqual(self.ids(), [0, 1, 2])
            with self.assertRaises(ZeroDivisionError), session.start_transaction():
                self.c.delete_many({}, session=session)
                self.assertEqual(self.c.count_documents({}, session=session), 0)
                raise ZeroDivisionError
            self.assertEqual(self.ids(), [0, 1, 2])
            # A commit may be repeated.
            session.start_transaction()
            self.c.insert_one({"_id": 3}, session=session)
            session.commit_transaction()
            session.commit_transaction()
            self.assertEqual(self.ids(), [0, 1, 2, 3])

    def test_with_transaction_converges(self):
        self.c.insert_many([{"_id": i, "n": 100} for i in range(3)])
        problems = []

        def work(who):
            def body(session):
                self.c.update_one({"_id": who % 3}, {"$inc": {"n": -1}}, session=session)
                self.c.update_one({"_id": (who + 1) % 3}, {"$inc": {"n": 1}}, session=session)
                self.c.insert_one({"by": who}, session=session)

            try:
                with self.client.start_session() as session:
                    for _ in range(5):
                        session.with_transaction(body)
            except Exception as problem:  # noqa: BLE001: any is one too many
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertEqual(sum(d["n"] for d in self.c.find({"n": {"$exists": True}})), 300)
        self.assertEqual(self.c.count_documents({"by": {"$exists": True}}), 80)

    def test_write_conflict_is_transient(self):
        self.c.insert_one({"_id": 1, "n": 0})
        with self.client.start_session() as a, self.client.start_session() as b:
            a.start_transaction()
            b.start_transaction()
            self.c.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=a)
            error = self.fails(112, self.c.update_one, {"_id": 1}, {"$inc": {"n": 1}}, session=b)
            self.assertTrue(error.has_error_label(TRANSIENT))
            self.assertTrue(self.fails(251, self.c.find_one, {}, session=b).has_error_label(TRANSIENT))
            b.abort_transaction()
            a.commit_transaction()
        self.assertEqual(self.c.find_one({"_id": 1})["n"], 1)

    def test_duplicate_key_ends_it_without_a_label(self):
        self.c.insert_one({"_id": 1})
        with self.client.start_session() as session:
            session.start_transaction()
            self.c.insert_one({"_id": 2}, session=session)
            with self.assertRaises(errors.DuplicateKeyError) as context:
                self.c.insert_one({"_id": 1}, session=session)
            self.assertFalse(context.exception.has_error_label(TRANSIENT))
            self.fails(251, session.commit_transaction)
        self.assertEqual(self.ids(), [1])

    def test_count_is_refused(self):
        with self.client.start_session() as session:
            session.start_transaction()
            error = self.fails(263, self.db.command, "count", self.c.name, session=session)
            self.assertFalse(error.has_error_label(TRANSIENT))
            session.abort_transaction()

    def test_commit_after_a_lost_connection(self):
        # The reply is lost before or the error comes instead of the commit: pymongo sends it again.
        self.db.create_collection(self.c.name)
        for number, data in enumerate([{"closeConnection": True}, {"errorCode": 10107}, {"errorCode": 91}]):
            with self.client.start_session() as session:
                session.start_transaction()
                self.c.insert_one({"_id": number}, session=session)
                self.fail_point(failCommands=["commitTransaction"], **data)
                session.commit_transaction()
        self.assertEqual(self.ids(), [0, 1, 2])

    def test_retryable_writes(self):
        self.c.insert_one({"_id": 1, "n": 0})
        for name, run in [
            ("update", lambda: self.c.update_one({"_id": 1}, {"$inc": {"n": 1}})),
            ("findAndModify", lambda: self.c.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}})),
            ("insert", lambda: self.c.insert_many([{"_id": 2}, {"_id": 3}])),
            ("delete", lambda: self.c.delete_one({"_id": 2})),
            ("update", lambda: self.c.bulk_write([InsertOne({"_id": 4}), UpdateOne({"_id": 1}, {"$inc": {"n": 1}}), DeleteOne({"_id": 3})])),
        ]:
            self.fail_point(failCommands=[name], closeConnection=True)
            run()
        self.assertEqual(list(self.c.find().sort("_id")), [{"_id": 1, "n": 3}, {"_id": 4}])

    def test_the_same_write_twice(self):
        lsid, number = {"id": bson.Binary(uuid.uuid4().bytes, 4)}, 0
        for command in [
            {"insert": self.c.name, "documents": [{"_id": 1, "n": 0}, {"_id": 2}]},
            {"update": self.c.name, "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]},
            {"delete": self.c.name, "deletes": [{"q": {}, "limit": 1}]},
        ]:
            number += 1
            replies = [self.raw({**command, "lsid": lsid, "txnNumber": bson.Int64(number)}) for _ in range(2)]
            self.assertEqual(replies[0]["n"], replies[1]["n"])
            self.assertNotIn("retriedStmtIds", replies[0])
            self.assertEqual(replies[1]["retriedStmtIds"], list(range(replies[0]["n"])))
        self.assertEqual(self.ids(), [2])

    def raw(self, command):
        """A command with an lsid of its own, past pymongo's sessions."""
        host, port = self.server.uri.removeprefix("mongodb://").split(":")
        body = struct.pack("<iB", 0, 0) + bson.encode({**command, "$db": self.db.name})
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, 2013) + body)
            reply = b""
            while len(reply) < 16 or len(reply) < struct.unpack_from("<i", reply)[0]:
                reply += connection.recv(65536)
        return bson.decode(reply[21:])

    def test_over_sharded_collections(self):
        self.client.admin.command("shardCollection", self.c.full_name, key={"k": "hashed"})
        self.c.insert_many([{"_id": i, "k": i} for i in range(30)])
        with self.client.start_session() as session, session.start_transaction():
            for i in range(30):
                self.c.update_one({"k": i}, {"$set": {"k": i + 100}}, session=session)
            self.assertEqual(self.c.count_documents({"k": {"$gte": 100}}, session=session), 30)
            self.assertEqual(self.c.count_documents({"k": {"$gte": 100}}), 0)
        self.assertEqual([d["k"] for d in self.c.find().sort("_id")], list(range(100, 130)))
        self.assertTrue(self.db.command("validate", self.c.name)["valid"])

    def test_causal_consistency(self):
        with self.client.start_session(causal_consistency=True) as a, self.client.start_session() as b:
            for i in range(20):
                self.c.insert_one({"_id": i}, session=a)
                b.advance_cluster_time(a.cluster_time)
                b.advance_operation_time(a.operation_time)
                self.assertIsNotNone(self.c.find_one({"_id": i}, session=b))
                self.assertGreaterEqual(b.operation_time, a.operation_time)


if __name__ == "__main__":
    unittest.main(verbosity=2)
