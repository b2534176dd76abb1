import { expect, test } from "bun:test"
import type { ResolverRequest } from "@hamlet/npm"
import { readStandardModules } from "../../composition/modules.ts"
import { toTextKey } from "../../domain/modules/imports/config-keys.ts"
import type { ImportFacts } from "./import-rules.ts"
import { createVersionPackages } from "./version-packages.ts"

test("createVersionPackages names the text of each place, and passes on who waits", async () => {
  const asked: ResolverRequest<ImportFacts>[] = []
  const common = { specifier: "npm:a", resolved: "npm:a@1.0.0", error: null, entry: 0, exports: [] }
  const places = [
    { file: 1, start: 7, end: 14 },
    { file: 0, start: 0, end: 0 },
  ]
  const resolver = {
    async resolve(request: ResolverRequest<ImportFacts>) {
      asked.push(request)
      return { imports: [{ ...common, places }], bundle: null, isTemporary: true }
    },
  }
  const facts = { importHosts: { baseUrls: [] }, standardModules: readStandardModules() }
  const files = ["one", "two"].map((code) => ({ path: `${code}.ts`, code }))
  const { signal } = new AbortController()
  const local = ["https://esm.town/v/ada/x"]
  const packages = createVersionPackages(resolver, facts)
  expect(await packages.resolve({ files, ownerId: "ada", local, signal })).toEqual({
    imports: [
      {
        ...common,
        places: [
          { text: toTextKey("two", "two.ts", undefined), start: 7, end: 14 },
          { text: toTextKey("one", "one.ts", undefined), start: 0, end: 0 },
        ],
      },
    ],
    bundle: null,
    isTemporary: true,
  })
  expect(asked).toEqual([
    { files, given: { ...facts, config: null, local }, accountId: "ada", signal },
  ])
})
