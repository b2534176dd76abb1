import { expect, test } from "bun:test"
import { readObjectKeys } from "./read-object-keys.ts"

test("readObjectKeys finds the keys, whatever their values are", () => {
  const code = `'use strict'
    module.exports = {
      decode: require('./decode'), // not: this
      'with-dash': function (a, b) { return { inner: [a, b] } }, "quoted": 1,
      /* nor: this */ arrow: (x) => ({ y: x }), text: "a, b: { c: '", other: 'it\\'s, so: ', pattern: /[/,}]"/g.test("x"), half: 1 / 2,
      method(a) { return a }, get it() { return 1 }, async later() {}, *many() {}, short, [computed]: 1, ...require("./more"), ...rest,
      last: \`a, \${"b"}\`,
    }; foo({ not: 1 })`
  const { keys, spreads } = readObjectKeys(code)
  const all = [
    "decode",
    "with-dash",
    "quoted",
    "arrow",
    "text",
    "other",
    "pattern",
    "half",
    "method",
    "it",
    "later",
    "many",
    "short",
    "last",
  ]
  expect(keys).toEqual(all)
  expect(spreads).toEqual(["./more"])
})

test("readObjectKeys returns the keys up to invalid syntax, and none without an object", () => {
  expect(readObjectKeys("module.exports = { a: 1, b: [ }").keys).toEqual(["a", "b"])
  expect(readObjectKeys("module.exports = {").keys).toEqual([])
  expect(
    readObjectKeys(
      "module.exports = {}; exports.x = { y: 1 }; const module = { exports: { z: 1 } }",
    ).keys,
  ).toEqual([])
  expect(
    readObjectKeys("exports = module.exports = { a }; if (x) module.exports = { b }").keys,
  ).toEqual(["a", "b"])
})
