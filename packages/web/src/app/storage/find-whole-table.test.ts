import { expect, test } from "bun:test"
import { findWholeTable } from "./find-whole-table.ts"

test.each([
  ["delete from users", "users"],
  ["DELETE FROM users;", "users"],
  ['update "my users" set a = 1 where b = 2; update visits set n = 0', "visits"],
  ["update or ignore visits set n = n + 1", "visits"],
  ["with old as (select 1) delete from visits", "visits"],
  ["delete from notes -- where id = 1", "notes"],
  ["update notes set text = 'where'", "notes"],
] as const)("findWholeTable finds the table of %s", (sql, table) => {
  expect(findWholeTable(sql)).toBe(table)
})

test.each([
  "delete from users where id = 1",
  "update visits set n = 0\nWHERE page = 'x;y'",
  "select 'delete from users'",
  "insert into logs values ('update a set b = 1')",
  "create trigger t after update on a begin select 1; end",
  "",
])("findWholeTable finds nothing in %s", (sql) => {
  expect(findWholeTable(sql)).toBeUndefined()
})
