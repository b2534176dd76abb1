import { expect, test } from "bun:test"
import { findClauseEnd } from "./scan-code.ts"

/** What follows the specifier up to where the clause ends. */
function readClause(text: string): string | undefined {
  const end = findClauseEnd(text, 0)
  return end === undefined ? undefined : text.slice(0, end)
}

test("findClauseEnd finds the end of attributes, however they are written", () => {
  const clauses = [
    ' with { type: "json" }',
    "with{type:'json'}",
    " assert { 'type': 'json', }",
    ' /* with { */ with // }\n { type /**/ : "json" }',
    "\n\twith\u2028{}",
  ]
  for (const clause of clauses) expect(readClause(`${clause}; export {}`)).toBe(clause)
})

test("findClauseEnd finds the end of the options of a dynamic import, before its bracket", () => {
  const clauses = [
    ', { with: { type: "json" } }',
    ",{with:{type:'json',},},",
    " , /* { */ { with: { type: 'json' } } // )\n",
  ]
  for (const clause of clauses) expect(readClause(`${clause}); export {}`)).toBe(clause)
})

test("findClauseEnd returns undefined for any other syntax", () => {
  const others = [
    "",
    "; with { }",
    " with",
    " with {",
    " with { type: f() }",
    ", options)",
    ", { with: { type: `json` } })",
    ", {} + 1)",
    ", { ...x })",
    " without {}",
  ]
  for (const text of others) expect(readClause(text)).toBeUndefined()
})
