import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { findConflicts, matchFiles } from "./conflicts.ts"
import type { EditedFile } from "./edited-file.ts"
import type { FileType, ListedFile } from "./load-files.ts"
import { toChanges } from "./to-changes.ts"
import { ValFiles } from "./val-files.ts"

const branchId = "branch"

/** A branch on a server, as far as the editor knows it. */
class FakeBranch {
  version = 1
  #lastId = 0
  readonly files = new Map<string, { id: string; text: string; version: number }>()
  readonly #texts = new Map<string, string>()

  constructor(texts: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries(texts)) this.put(path, text)
  }

  put(path: string, text: string): void {
    this.#lastId += 1
    const id = this.files.get(path)?.id ?? `id-${this.#lastId}`
    this.files.set(path, { id, text, version: this.version })
    this.#texts.set(`${path} ${this.version}`, text)
  }

  move(from: string, to: string): void {
    const file = this.files.get(from)
    if (!file || this.files.has(to)) return
    this.files.delete(from)
    this.files.set(to, { ...file, version: this.version })
    this.#texts.set(`${to} ${this.version}`, file.text)
  }

  list(): readonly ListedFile[] {
    return [...this.files].map(([path, { id, version }]) => toListed(path, id, version))
  }

  readText = async ({ path, version }: Pick<ListedFile, "path" | "version">) =>
    this.#texts.get(`${path} ${version}`) ?? "(missing)"

  /** Applies the changes of an editor, which it may refuse. */
  save(files: ValFiles): boolean {
    if (files.findTwice() !== undefined) return false
    this.version += 1
    for (const change of toChanges(files.all.peek().map((file) => file.toEdit()))) {
      if ("delete" in change) this.files.delete(change.path)
      else if ("newPath" in change) this.move(change.path, change.newPath)
      else this.put(change.path, change.content ?? "")
    }
    return true
  }

  listTexts(): readonly string[] {
    return [...this.files.values()].map(({ text }) => text)
  }
}

function toListed(path: string, id: string, version: number, type: FileType = "script") {
  const links = { self: "", html: "", module: "" }
  return { id, path, version, type, name: path, updatedAt: "", links } as ListedFile
}

async function open(branch: FakeBranch): Promise<ValFiles> {
  const files = new ValFiles(branch.list(), branchId, branch.readText, () => {})
  for (const file of files.all.peek()) {
    files.open(file)
    await file.load()
  }
  return files
}

/** Keeps what was typed here wherever there is a conflict. */
async function keepMine(files: ValFiles, branch: FakeBranch): Promise<void> {
  for (const { file, theirs } of await findConflicts(
    files.all.peek(),
    branch.list(),
    branch.readText,
  ))
    file.setSaved(theirs?.listed, theirs?.text)
  await files.rebase(branch.list(), () => {})
}

const names = ["a.ts", "b.ts", "c.ts"] as const
const place = fc.constantFrom(...names)
const action = fc.record({
  kind: fc.constantFrom("type", "move", "delete", "add"),
  path: place,
  to: place,
})
const actions = fc.array(action, { maxLength: 6 })

describe("ValFiles", () => {
  test("loses no typed text, whatever was done here and elsewhere", async () => {
    await fc.assert(
      fc.asyncProperty(actions, actions, async (here, elsewhere) => {
        const branch = new FakeBranch({ "a.ts": "a", "b.ts": "b" })
        const files = await open(branch)
        const typed = new Map<EditedFile, string>()
        for (const [index, { kind, path, to }] of here.entries()) {
          const file = files.find(path)
          const text = `typed ${index}`
          if (kind === "add" && !file) typed.set(files.add(path, "script", text), text)
          if (!file) continue
          if (kind === "type") {
            files.type(text, file)
            typed.set(file, text)
          } else if (kind === "move" && !files.find(to)) files.move(path, to)
          else if (kind === "delete") for (const one of files.delete(path)) typed.delete(one)
        }
        branch.version += 1
        for (const [index, { kind, path, to }] of elsewhere.entries()) {
          if (kind === "move") branch.move(path, to)
          else if (kind === "delete") branch.files.delete(path)
          else branch.put(path, `theirs ${index}`)
        }
        await keepMine(files, branch)
        for (const text of typed.values())
          expect(files.present.peek().map((file) => file.text.peek())).toContain(text)
        // Nothing is overwritten when it is saved: two files at one path are refused.
        if (branch.save(files))
          expect(branch.listTexts()).toEqual(expect.arrayContaining([...typed.values()]))
      }),
      { numRuns: 300 },
    )
  })

  test("finds text that the user begins to type while a newer version is read", async () => {
    const branch = new FakeBranch({ "a.ts": "a", "b.ts": "b" })
    const files = await open(branch)
    branch.version += 1
    branch.put("a.ts", "theirs")
    const rebased = files.rebase(branch.list(), () => {})
    const file = files.find("a.ts")
    if (!file) throw new Error("there is no file")
    files.type("mine", file)
    expect(await rebased).toBe(false)
    expect(file.text.peek()).toBe("mine")
    const conflicts = await findConflicts(files.all.peek(), branch.list(), branch.readText)
    expect(conflicts.map(({ theirs }) => theirs?.text)).toEqual(["theirs"])
  })

  test("keeps a file that was restored while its deletion was saved", async () => {
    const files = await open(new FakeBranch({ "a.ts": "a" }))
    const [file] = files.delete("a.ts")
    if (!file) throw new Error("there is no file")
    files.undelete([file])
    files.forget(file)
    expect(file.toEdit()).toMatchObject({ savedPath: undefined, content: "a", isDeleted: false })
  })
})

describe("matchFiles", () => {
  test("takes a file for what was created at its path after it was deleted", async () => {
    const branch = new FakeBranch({ "a.ts": "a" })
    const files = await open(branch)
    branch.version += 1
    branch.files.delete("a.ts")
    branch.put("a.ts", "created anew")
    const [file] = files.all.peek()
    if (!file) throw new Error("there is no file")
    files.type("mine", file)
    expect(matchFiles([file], branch.list()).get(file)?.id).toBe("id-2")
    const conflicts = await findConflicts([file], branch.list(), branch.readText)
    expect(conflicts.map(({ theirs }) => theirs?.text)).toEqual(["created anew"])
  })

  test("never takes a new file for a directory", async () => {
    const files = await open(new FakeBranch({}))
    const file = files.add("lib", "file", "mine")
    expect(matchFiles([file], [toListed("lib", "id-1", 1, "directory")]).size).toBe(0)
  })
})
