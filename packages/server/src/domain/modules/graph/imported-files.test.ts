import { describe, expect, test } from "bun:test"
import { findImportedFiles, startFileSearch } from "./imported-files.ts"
import type { ModuleText, ModuleTexts } from "./module-texts.ts"

const toText = (files: readonly string[]): ModuleText => ({
  since: 1,
  mayImport: true,
  files,
  mapped: [],
  mayHavePackages: false,
  importsTexts: false,
  importsComputed: false,
  readsFiles: false,
})

/** Version 1 has `lib/a.ts` and nothing else. */
function open() {
  const searched: string[] = []
  const texts: Pick<ModuleTexts, "find"> = {
    async find(_key, _branchId, _version, path) {
      searched.push(path)
      return path === "lib/a.ts" ? toText([]) : undefined
    },
  }
  const search = startFileSearch()
  const find = (path: string, files: readonly string[]) => {
    const url = `http://h/v/ada/val@1-main/${path}`
    const file = { url, path, branchId: "b", version: 1, config: null, text: toText(files) }
    return findImportedFiles(texts as ModuleTexts, file, search)
  }
  return { searched, find }
}

describe("findImportedFiles", () => {
  test("finds files by relative paths, within the version only", async () => {
    const { searched, find } = open()
    const { found, isComplete } = await find("lib/b.ts", ["./a.ts", "./no.ts", "../../../../x.ts"])
    expect(found.map(({ url, module }) => [url, module.path])).toEqual([
      ["http://h/v/ada/val@1-main/lib/a.ts", "lib/a.ts"],
    ])
    expect([searched, isComplete]).toEqual([["lib/a.ts", "lib/no.ts"], true])
  })

  test("searches each path once in a program, and says what it left out", async () => {
    const { searched, find } = open()
    await find("main.ts", ["./lib/a.ts"])
    expect(await find("other.ts", ["./lib/a.ts"])).toEqual({ found: [], isComplete: false })
    expect(searched).toEqual(["lib/a.ts"])
  })

  test("searches a limited number of paths in a program", async () => {
    const { searched, find } = open()
    for (let file = 0; file < 20; file++) {
      const paths = Array.from({ length: 1_000 }, (_, index) => `./${file}_${index}.ts`)
      await find(`f${file}.ts`, paths)
    }
    expect(searched).toHaveLength(1_000)
  })
})
