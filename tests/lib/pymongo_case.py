"""What the tests of pymongo share: a server and a client a class, a collection a test."""
import unittest

import pymongo
from pymongo import errors
from server import Server


class PymongoCase(unittest.TestCase):
    options = ()  # of the server

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)
        cls.client = pymongo.MongoClient(cls.server.uri, serverSelectionTimeoutMS=5000)
        cls.db = cls.client["py"]

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        code = cls.server.stop()
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")

    def setUp(self):
        self.c = self.db[self._testMethodName]

    def fails(self, code, call, *args, **kwargs):
        with self.assertRaises(errors.OperationFailure) as context:
            call(*args, **kwargs)
        self.assertEqual(context.exception.code, code, context.exception)
        return context.exception
