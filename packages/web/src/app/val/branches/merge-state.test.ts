import { describe, expect, test } from "bun:test"
import {
  type Conflict,
  type ConflictState,
  listOpen,
  takeConflicts,
  toResolved,
} from "./merge-state.ts"

const names = { ours: "main", theirs: "try" }
const conflict: Conflict = { path: "a.ts", base: "1\n2\n3", ours: "1\nX\n3", theirs: "1\nY\n3" }

function decide(state: ConflictState | undefined, text: string | null): [string, ConflictState] {
  if (!state) throw new Error("there is no such conflict")
  return [state.conflict.path, { ...state, text, isDecided: true }]
}

describe("takeConflicts", () => {
  test("begins with what both agree on, and marks the rest", () => {
    const state = takeConflicts(new Map(), [conflict], names).get("a.ts")
    expect(state?.text).toBe("1\n<<<<<<< main\nX\n=======\nY\n>>>>>>> try\n3")
    expect(state && listOpen(state, names)).toHaveLength(1)
  })

  test("begins with the only text of a file that one side has deleted", () => {
    const gone = { ...conflict, theirs: null }
    const state = takeConflicts(new Map(), [gone], names).get("a.ts")
    expect(state).toMatchObject({ text: "1\nX\n3", isDecided: false })
    expect(state && listOpen(state, names)).toEqual([])
  })

  test("keeps a decision about the same texts, and what was typed about others", () => {
    const other = { ...conflict, path: "b.ts" }
    const first = takeConflicts(new Map(), [conflict, other], names)
    const decided = new Map([...first, decide(first.get("a.ts"), "mine")])
    expect(takeConflicts(decided, [conflict, other], names)).toEqual(decided)
    const moved = { ...conflict, ours: "1\nZ\n3" }
    const again = takeConflicts(decided, [moved], names)
    expect(again.get("a.ts")).toEqual({
      conflict: moved,
      text: "mine",
      isDecided: false,
      hasMoved: true,
    })
    // Nothing was typed there: it begins anew, and is still known if it comes back.
    expect(again.get("b.ts")).toEqual(first.get("b.ts"))
    expect(takeConflicts(decided, [{ ...moved, path: "b.ts" }], names).get("b.ts")?.text).toBe(
      "1\n<<<<<<< main\nZ\n=======\nY\n>>>>>>> try\n3",
    )
  })

  test("does not lose what was typed, whichever texts come", () => {
    for (const ours of [null, "", "1", "x\ny"])
      for (const theirs of [null, "", "2", "y\nx"]) {
        if (ours === theirs) continue
        const first = takeConflicts(new Map(), [{ ...conflict, ours, theirs }], names)
        const typed = new Map([...first, decide(first.get("a.ts"), "typed")])
        expect(takeConflicts(typed, [conflict], names).get("a.ts")?.text).toBe("typed")
      }
  })
})

describe("toResolved", () => {
  test("contains what was decided, and nothing else", () => {
    const all = ["a.ts", "b.ts", "c.ts"].map((path) => ({ ...conflict, path }))
    const first = takeConflicts(new Map(), all, names)
    const states = new Map([
      ...first,
      decide(first.get("a.ts"), "mine"),
      decide(first.get("b.ts"), null),
    ])
    expect(toResolved(["a.ts", "b.ts", "c.ts"], states)).toEqual([
      { path: "a.ts", content: "mine" },
      { path: "b.ts", delete: true },
    ])
  })
})
