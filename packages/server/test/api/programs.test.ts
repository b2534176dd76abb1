import { describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import type { Program, ProgramContent } from "@hamlet/sandbox"
import { createStandardScripts } from "../../src/composition/modules.ts"
import { createPendingLockfiles } from "../../src/domain/modules/pending-lockfiles.ts"
import { createPrograms, type Programs } from "../../src/domain/modules/programs.ts"
import { createSecretOpener } from "../../src/domain/secrets/open-secrets.ts"
import { createBundleStore } from "../../src/storage/modules/bundles.ts"
import { createImportStore } from "../../src/storage/modules/imports.ts"
import { createVersionFileStore } from "../../src/storage/modules/version-files.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, nextMillisecond, type ValView } from "./suite.ts"

const base = `${testBaseUrl}/v`
const importing = (...specifiers: string[]) =>
  specifiers.map((specifier) => `import "${specifier}"`).join("\n")

describeApi("createPrograms", (suite) => {
  const { call, addUser: person, val } = suite

  /** Saves code as the next version, later than the previous save. */
  const save = async (owner: TestUser, { id }: ValView, code: string): Promise<ValView> => {
    await nextMillisecond()
    return expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: owner, body: { code } }),
      201,
    ).json
  }
  const change = async (owner: TestUser, { id }: ValView, body: object) =>
    expectStatus(await call("PUT", `/v1/vals/${id}`, { as: owner, body }), 204)
  const remove = async (owner: TestUser, path: string) =>
    expectStatus(await call("DELETE", path, { as: owner }), 204)

  describe("imports", () => {
    test("of the owner's vals use their current version, which changes the key", async () => {
      const ada = await person()
      const lib = await val(ada, { name: "lib", code: "1" })
      const main = await val(ada, { name: "main", code: importing("./lib") })
      const before = await programOf(suite, main)
      expect(await modulesOf(before)).toEqual({
        [toUrl(main)]: main.code,
        [toUrl(main, "lib")]: "1",
        [toUrl(lib)]: "1",
      })
      expect((await programOf(suite, main)).key).toBe(before.key)

      const saved = await save(ada, lib, "2")

      const after = await programOf(suite, main)
      expect(after.key).not.toBe(before.key)
      expect(await modulesOf(after)).toMatchObject({
        [toUrl(main, "lib")]: "2",
        [toUrl(saved)]: "2",
      })
    })

    test("of other users' vals are pinned to the version at the time of the save", async () => {
      const [ada, bob] = [await person(), await person()]
      const lib = await val(bob, { name: "lib", code: "1" })
      const url = `${base}/${bob.username}/lib`
      const main = await val(ada, { name: "main", code: importing(url) })
      const { key } = await programOf(suite, main)

      await save(bob, lib, "2")
      expect(await codeAt(main, url)).toBe("1")
      expect((await programOf(suite, main)).key).toBe(key)

      const next = await save(ada, main, `${importing(url)}\n// again`)
      await save(bob, lib, "3")
      expect(await codeAt(next, url)).toBe("2")
      expect(await codeAt({ ...main, version: 1 }, url)).toBe("1")
    })

    test("keep importing the same val after a rename, not another val with the old name", async () => {
      const [ada, bob] = [await person(), await person()]
      const lib = await val(bob, { name: "lib", code: "1" })
      const url = `${base}/${bob.username}/lib`
      const main = await val(ada, { name: "main", code: importing(url) })
      await change(bob, lib, { name: "renamed" })
      expect(await codeAt(main, url)).toBe("1")
      await val(bob, { name: "lib", code: "a stranger" })
      expect(await codeAt(main, url)).toBe("1")
      const { key } = await programOf(suite, main)

      await remove(bob, `/v1/vals/${lib.id}`)

      expect(await codeAt(main, url)).toBeUndefined()
      expect((await programOf(suite, main)).key).not.toBe(key)
    })

    test("by number use that version, also beside the pinned one, until it is deleted", async () => {
      const [ada, bob] = [await person(), await person()]
      const lib = await val(bob, { name: "lib", code: "1" })
      await save(bob, lib, "2")
      await save(bob, lib, "3")
      const url = `${base}/${bob.username}/lib`
      const main = await val(ada, {
        name: "main",
        code: importing(`${url}@2`, url, `${url}@1`, `${url}@9`),
      })
      const own = await val(bob, { name: "own", code: importing("./lib@1") })
      await save(bob, lib, "4")
      const program = await programOf(suite, main)
      expect(await modulesOf(program)).toEqual({
        [toUrl(main)]: main.code,
        [`${url}@2`]: "2",
        [toUrl({ ...lib, version: 2 })]: "2",
        [url]: "3",
        [toUrl({ ...lib, version: 3 })]: "3",
        [`${url}@1`]: "1",
        [toUrl(lib)]: "1",
      })
      expect(await codeAt(own, toUrl(own, "lib@1"))).toBe("1")

      await remove(bob, `/v1/vals/${lib.id}/versions/1`)
      await remove(bob, `/v1/vals/${lib.id}/versions/3`)

      const after = await programOf(suite, main)
      expect(await modulesOf(after)).toEqual({
        [toUrl(main)]: main.code,
        [`${url}@2`]: "2",
        [toUrl({ ...lib, version: 2 })]: "2",
      })
      expect(after.key).not.toBe(program.key)
      expect(await codeAt(own, toUrl(own, "lib@1"))).toBeUndefined()
    })

    test("of a val that was created later use its current version", async () => {
      const [ada, bob] = [await person(), await person()]
      const url = `${base}/${bob.username}/later`
      const main = await val(ada, { name: "main", code: importing(url, "./mine") })
      expect(await modulesOf(await programOf(suite, main))).toEqual({ [toUrl(main)]: main.code })
      await val(bob, { name: "later", code: "here" })
      await val(ada, { name: "mine", code: "too" })
      expect(await codeAt(main, url)).toBe("here")
      expect(await codeAt(main, toUrl(main, "mine"))).toBe("too")
    })

    test("of other users' vals keep the versions that those vals import", async () => {
      const [ada, bob] = [await person(), await person()]
      const deep = await val(bob, { name: "deep", code: "1" })
      const lib = await val(bob, { name: "lib", code: importing("./deep") })
      await save(bob, deep, "2")
      const main = await val(ada, { name: "main", code: importing(`${base}/${bob.username}/lib`) })
      const top = await val(ada, { name: "top", code: importing("./main") })
      await save(bob, deep, "3")
      const url = toUrl(lib, "deep")
      expect(await codeAt(main, url)).toBe("2")
      expect(await codeAt(top, url)).toBe("2")
      expect(await codeAt(lib, url)).toBe("3")
    })

    test("of one address by two modules use the pin of the nearer module", async () => {
      const [ada, bob] = [await person(), await person()]
      const lib = await val(bob, { name: "lib", code: "1" })
      const url = `${base}/${bob.username}/lib`
      await val(ada, { name: "old", code: importing(url) })
      await save(bob, lib, "2")
      const fresh = await val(ada, { name: "fresh", code: importing(url) })
      const both = await val(ada, { name: "both", code: importing("./old", url) })
      const neither = await val(ada, { name: "neither", code: importing("./old", "./fresh") })
      expect(await codeAt(both, url)).toBe("2")
      expect(await codeAt(fresh, url)).toBe("2")
      // The first by name is taken of two imports that are equally near.
      expect(await codeAt(neither, url)).toBe("2")
    })

    test("are found under every spelling of an address", async () => {
      const ada = await person()
      const lib = await val(ada, { name: "lib", code: "lib" })
      const rel = await val(ada, { name: "rel", code: importing("./lib") })
      const name = ada.username
      const code = importing(
        `https://esm.town/v/${name}/rel`,
        `https://esm.town/v/${name}/lib?v=1`,
        `${base}/@${name}/LIB`,
        `${base}/x/../${name}/lib#part`,
        `../${name}/lib@1?x=1`,
        `/v/${name.toUpperCase()}/rel`,
        "node:fs",
      )
      const main = await val(ada, { name: "main", code })
      expect(await modulesOf(await programOf(suite, main))).toEqual({
        [toUrl(main)]: code,
        [toUrl(rel)]: importing("./lib"),
        [toUrl(lib)]: "lib",
        [toUrl(rel, "lib")]: "lib",
        [`https://esm.town/v/${name}/rel`]: importing("./lib"),
        [`https://esm.town/v/${name}/lib?v=1`]: "lib",
        [`${base}/@${name}/LIB`]: "lib",
        [`${base}/${name}/lib`]: "lib",
        // What the runtime resolves `../` to.
        [`${base}/${name}/${name}/lib@1?x=1`]: "lib",
        [`${base}/${name.toUpperCase()}/rel`]: importing("./lib"),
      })
    })

    test("may be circular", async () => {
      const ada = await person()
      const [one, two] = [
        await val(ada, { name: "one", code: "1" }),
        await val(ada, { name: "two", code: importing("./one", "./two") }),
      ]
      const entry = await save(ada, one, importing("./two", "./one"))
      expect(await modulesOf(await programOf(suite, entry))).toEqual({
        [toUrl(entry)]: entry.code,
        [toUrl(entry, "two")]: two.code,
        [toUrl(entry, "one")]: entry.code,
        [toUrl(two)]: two.code,
        [toUrl(two, "two")]: two.code,
        [toUrl(two, "one")]: entry.code,
      })
    })

    test("of private vals work only for the owner of the importing module", async () => {
      const [ada, bob] = [await person(), await person()]
      const hidden = await val(bob, { name: "hidden", code: "hidden", privacy: "private" })
      const open = await val(bob, {
        name: "open",
        code: importing("./hidden"),
        privacy: "unlisted",
      })
      const url = `${base}/${bob.username}`
      const main = await val(ada, { name: "main", code: importing(`${url}/hidden`) })
      const through = await val(ada, { name: "through", code: importing(`${url}/open`) })
      expect(await codeAt(main, `${url}/hidden`)).toBeUndefined()
      expect(await codeAt(open, toUrl(open, "hidden"))).toBe("hidden")
      expect(await codeAt(through, toUrl(open, "hidden"))).toBe("hidden")
      const { key } = await programOf(suite, through)

      await change(bob, open, { privacy: "private" })

      expect(await codeAt(through, `${url}/open`)).toBeUndefined()
      expect((await programOf(suite, through)).key).not.toBe(key)
      await change(bob, hidden, { privacy: "public" })
      expect(await codeAt(main, `${url}/hidden`)).toBe("hidden")
    })

    test("are limited in number", async () => {
      const ada = await person()
      await val(ada, { name: "lib", code: "lib" })
      const many = (count: number, kind: string) =>
        Array.from({ length: count }, (_, index) => `./lib?${kind}${index}`)
      await val(ada, { name: "more", code: importing(...many(150, "b")) })
      const main = await val(ada, { name: "main", code: importing("./more", ...many(150, "a")) })
      const { modules } = await contentOf(await programOf(suite, main))
      expect(modules).toHaveLength(201)
    })

    test("that were saved without their spelling are parsed again, and use the current version", async () => {
      const [ada, bob] = [await person(), await person()]
      const lib = await val(bob, { name: "lib", code: "1" })
      const url = `${base}/${bob.username}/lib`
      const main = await val(ada, { name: "main", code: importing(url, `${url}@1`) })
      await save(bob, lib, "2")
      await suite.database.db.write(function* () {
        yield sql`update imports set specifiers = null, pinned_val_id = null, pinned_version = null where branch_id = ${main.id}`
      })
      expect(await modulesOf(await programOf(suite, main))).toEqual({
        [toUrl(main)]: main.code,
        [url]: "2",
        [toUrl({ ...lib, version: 2 })]: "2",
        [`${url}@1`]: "1",
        [toUrl(lib)]: "1",
      })
    })
  })

  describe("files", () => {
    /** A val of ada's with files beside its main.tsx. */
    const withFiles = async (code: string, files: FileContents) => {
      const ada = await person()
      const main = await val(ada, { name: "main", code })
      return { ada, main: await saveAll(ada, main, files) }
    }
    const saveAll = async (
      owner: TestUser,
      view: ValView,
      files: FileContents,
      branch?: string,
    ): Promise<ValView> => {
      await nextMillisecond()
      const changes = Object.entries(files).map(([path, content]) =>
        content === null ? { path, delete: true } : { path, content },
      )
      const query = branch === undefined ? "" : `?branch_id=${branch}`
      const path = `/v1/vals/${view.id}/files${query}`
      const { version } = expectStatus(
        await call("POST", path, { as: owner, body: { changes } }),
        200,
      ).json
      return { ...view, version }
    }
    const addBranch = async (owner: TestUser, { id }: ValView, name: string): Promise<string> => {
      const path = `/v2/vals/${id}/branches`
      return expectStatus(await call("POST", path, { as: owner, body: { name } }), 201).json.id
    }

    test("of the val are imported by relative paths, in the same version, also in a circle", async () => {
      const code = importing("./lib/db.ts", "./data.json")
      const db = importing("../util.ts", "./sub/deep.js", "../main.tsx")
      const { ada, main } = await withFiles(code, {
        "lib/db.ts": db,
        "lib/sub/deep.js": "deep",
        "util.ts": importing("./lib/db.ts"),
        "data.json": "{}",
        "unused.ts": "unused",
      })
      const { modules, end } = await contentOf(await programOf(suite, main))
      end()
      expect(modules.map(({ url, code: text, type }) => [url, text, type])).toEqual([
        [toUrl(main), code, "tsx"],
        [toUrl(main, "lib/db.ts"), db, "ts"],
        [toUrl(main, "data.json"), "{}", "json"],
        [toUrl(main, "util.ts"), importing("./lib/db.ts"), "ts"],
        [toUrl(main, "lib/sub/deep.js"), "deep", "js"],
      ])

      const next = await saveAll(ada, main, { "util.ts": "newer" })
      expect(await codeAt(next, toUrl(next, "util.ts"))).toBe("newer")
      expect(await codeAt(main, toUrl(main, "util.ts"))).toBe(importing("./lib/db.ts"))
    })

    test("win over a val that a relative address could also mean, while they exist", async () => {
      const { ada, main } = await withFiles(importing("./lib"), { lib: "the file" })
      await val(ada, { name: "lib", code: "the val" })
      expect(await codeAt(main, toUrl(main, "lib"))).toBe("the file")
      const next = await saveAll(ada, main, { lib: null })
      expect(await codeAt(next, toUrl(next, "lib"))).toBe("the val")
    })

    test("are not found outside of the val, by other names and in other versions", async () => {
      const specifiers = ["../x.ts", "../../x.ts", "./X.ts", "./x", "/x.ts", "./a/../../x.ts"]
      const { ada, main } = await withFiles(importing(...specifiers), { "x.ts": "x" })
      expect(Object.keys(await modulesOf(await programOf(suite, main)))).toEqual([toUrl(main)])
      const later = await saveAll(ada, main, { "main.tsx": importing("./later.ts") })
      const last = await saveAll(ada, later, { "later.ts": "later" })
      expect(await codeAt(later, toUrl(later, "later.ts"))).toBeUndefined()
      expect(await codeAt(last, toUrl(last, "later.ts"))).toBe("later")
    })

    test("of other vals are imported by address, in the version that is pinned", async () => {
      const bob = await person()
      const lib = await val(bob, { name: "lib", code: "entry" })
      await saveAll(bob, lib, { "a.ts": importing("./b.ts"), "b.ts": "b" })
      const branch = await addBranch(bob, lib, "Draft")
      await saveAll(bob, lib, { "a.ts": "draft" }, branch)
      const url = `${base}/${bob.username}/lib`
      const urls = [`${url}/a.ts`, `${url}@draft/a.ts`, `${url}@1-draft/a.ts`, `${url}@2/b.ts`]
      const missing = [`${url}@1/b.ts`, `${url}@9-draft/a.ts`, `${url}@none/a.ts`, `${url}/c.ts`]
      const ada = await person()
      const main = await val(ada, { name: "main", code: importing(...urls, ...missing) })
      const { key } = await programOf(suite, main)
      await saveAll(bob, lib, { "a.ts": "newer", "b.ts": "newer" })
      await saveAll(bob, lib, { "a.ts": "newer draft" }, branch)
      const second = { ...lib, version: 2 }
      const draft = `${lib.links.module}@1-Draft/a.ts`
      expect(await modulesOf(await programOf(suite, main))).toEqual({
        [toUrl(main)]: main.code,
        [`${url}/a.ts`]: importing("./b.ts"),
        [toUrl(second, "a.ts")]: importing("./b.ts"),
        [`${url}@draft/a.ts`]: "draft",
        [draft]: "draft",
        [`${url}@1-draft/a.ts`]: "draft",
        [`${url}@2/b.ts`]: "b",
        [toUrl(second, "b.ts")]: "b",
      })
      expect((await programOf(suite, main)).key).toBe(key)
      const own = await val(bob, { name: "own", code: importing("./lib", ...urls.slice(0, 2)) })
      expect(await codeAt(own, `${url}/a.ts`)).toBe("newer")
      expect(await codeAt(own, `${url}@draft/a.ts`)).toBe("newer draft")
    })

    test("have imports of their own, which only those at the root may write relative to the val", async () => {
      const ada = await person()
      const other = await val(ada, { name: "other", code: "other" })
      const main = await val(ada, { name: "main", code: importing("./a.ts", "./lib/b.ts") })
      const saved = await saveAll(ada, main, {
        "a.ts": importing("./other"),
        "lib/b.ts": importing("./other", `${base}/${ada.username}/other`),
      })
      expect(Object.keys(await modulesOf(await programOf(suite, saved))).sort()).toEqual(
        [
          toUrl(saved),
          toUrl(saved, "a.ts"),
          toUrl(saved, "lib/b.ts"),
          toUrl(saved, "other"),
          toUrl(other),
          `${base}/${ada.username}/other`,
        ].sort(),
      )
    })

    test("are all there for a computed import, with what they import, and change the key", async () => {
      const files = { "pages/a.ts": importing("../lib/x.ts"), "lib/x.ts": "x", "README.md": "#" }
      const code = "const name = './pages/a.ts'; export default () => import(name)"
      const { ada, main } = await withFiles(code, files)
      const program = await programOf(suite, main)
      expect(Object.keys(await modulesOf(program)).toSorted()).toEqual(
        ["lib/x.ts", "main.tsx", "pages/a.ts"].map((path) => toUrl(main, path)),
      )
      expect(program.isMeant({ branchId: main.id, paths: ["new.ts"] })).toBe(true)
      expect(program.isMeant({ branchId: main.id, paths: ["README.md"] })).toBe(false)
      const readme = await saveAll(ada, main, { "README.md": "# Hello" })
      expect((await programOf(suite, readme)).key).toBe(program.key)
      const added = await saveAll(ada, readme, { "pages/b.ts": "b" })
      expect((await programOf(suite, added)).key).not.toBe(program.key)
    })

    test("of any kind are there for an import as text or bytes, and for no other", async () => {
      const files = { "i.html": `<p>1</p><script src="./lib.ts">`, "lib.ts": "lib", "b.bin": "b" }
      const text = `import t from "./i.html" with { type: "text" }`
      const { ada, main } = await withFiles(text, files)
      const urlsOf = async (view: ValView) =>
        Object.keys(await modulesOf(await programOf(suite, view)))
      expect(await urlsOf(main)).toEqual(["main.tsx", "i.html"].map((path) => toUrl(main, path)))
      expect((await modulesOf(await programOf(suite, main)))[toUrl(main, "i.html")]).toBe(
        files["i.html"],
      )
      const bytes = `export default () => import("./b.bin", { with: { type: "bytes" } })`
      const next = await saveAll(ada, main, { "main.tsx": bytes })
      expect(await urlsOf(next)).toEqual(["main.tsx", "b.bin"].map((path) => toUrl(next, path)))
      const none = await saveAll(ada, next, { "main.tsx": `import "./b.bin"; import "./lib.ts"` })
      expect(await urlsOf(none)).toEqual(["main.tsx", "lib.ts"].map((path) => toUrl(none, path)))
    })

    test("that a program does not reach do not change its key, unless it can read them", async () => {
      const { ada, main } = await withFiles(importing("./a.ts"), { "a.ts": "a" })
      const lib = await val(ada, { name: "lib", code: importing("./main") })
      const keysOf = async (view: ValView) => [
        (await programOf(suite, view)).key,
        (await programOf(suite, lib)).key,
      ]
      const before = await keysOf(main)
      const unrelated = await saveAll(ada, main, { "b.ts": "b", "README.md": "# Hello" })
      expect(await keysOf(unrelated)).toEqual(before)
      const [own, importer] = await keysOf(await saveAll(ada, unrelated, { "a.ts": "changed" }))
      expect(own).not.toBe(before[0] as string)
      expect(importer).not.toBe(before[1] as string)

      const utils = `import { readFile } from "https://esm.town/v/std/utils/index.ts"`
      const reader = await saveAll(ada, main, { "a.ts": utils })
      const key = (await programOf(suite, reader)).key
      const next = await saveAll(ada, reader, { "README.md": "# Goodbye" })
      expect((await programOf(suite, next)).key).not.toBe(key)
    })
  })

  describe("key", () => {
    test("belongs to one program object while a val without imports is unchanged", async () => {
      const ada = await person()
      const main = await val(ada, { code: "export default 'imported from nowhere'" })
      const programs = programsOf(suite)
      const found = await findVal(suite, main)
      // The word "import" is in the code, so the first call parses it.
      await programs.of(found, ada.id)
      const program = await programs.of(found, ada.id)
      expect(await programs.of(found, ada.id)).toBe(program)
      expect(await programs.of(found, (await person()).id)).not.toBe(program)
    })

    test("differs by version, account, name and type", async () => {
      const [ada, bob] = [await person(), await person()]
      const main = await val(ada, { name: "main", code: "1", type: "http" })
      const keys = [(await programOf(suite, main)).key, (await programOf(suite, main, bob.id)).key]
      await change(ada, main, { name: "other" })
      keys.push((await programOf(suite, main)).key)
      await change(ada, main, { type: "script" })
      keys.push((await programOf(suite, { ...main, version: 2 })).key)
      keys.push((await programOf(suite, await save(ada, main, "2"))).key)
      expect(new Set(keys).size).toBe(5)
      await change(ada, main, { readme: "another", privacy: "unlisted" })
      expect((await programOf(suite, { ...main, version: 3 })).key).toBe(keys[4] as string)
    })

    test("changes with the owner's secrets, for the owner only", async () => {
      const [ada, bob] = [await person(), await person()]
      const main = await val(ada, { code: "1" })
      const secret = async (method: string, name: string, body?: object) =>
        expectStatus(await call(method, `/v1/me/secrets/${name}`, { as: ada, body }), 204)
      const keysOf = async () =>
        [(await programOf(suite, main)).key, (await programOf(suite, main, bob.id)).key] as const
      const steps = [await keysOf()]
      await secret("PUT", "KEY", { value: "one" })
      steps.push(await keysOf())
      await secret("PUT", "KEY", { value: "two" })
      steps.push(await keysOf())
      await secret("DELETE", "KEY")
      steps.push(await keysOf())
      await call("DELETE", "/v1/me/secrets/KEY", { as: ada })
      await call("PUT", "/v1/me/secrets/KEY", { as: bob, body: { value: "somebody else's" } })
      steps.push(await keysOf())
      const [owners, others] = [
        new Set(steps.map(([own]) => own)),
        new Set(steps.map(([, other]) => other)),
      ]
      expect([owners.size, others.size]).toEqual([4, 1])
    })
  })

  describe("environment", () => {
    test("has the owner's secrets, masks them, and does not let a secret use a reserved name", async () => {
      const ada = await person()
      const put = async (name: string, body: object) =>
        expectStatus(await call("PUT", `/v1/me/secrets/${name}`, { as: ada, body }), 204)
      await put("KEY", { value: 'sé"cret\n' })
      await put("HOSTED", { value: "only for some hosts", hosts: ["api.example.com"] })
      await put("HAMLET_VAL", { value: "somebody/else" })
      const main = await val(ada, { name: "main", code: "1" })
      const { env, mask, end } = await contentOf(await programOf(suite, main))
      expect(Object.entries(env).sort()).toEqual([
        ["HAMLET_TOKEN", expect.stringMatching(/^hamlet_/)],
        ["HAMLET_URL", testBaseUrl],
        ["HAMLET_VAL", `${ada.username}/main`],
        ["HOSTED", "hamlet-secret:HOSTED"],
        ["KEY", 'sé"cret\n'],
        ["VALTOWN_ENTRYPOINT", `${testBaseUrl}/v/${ada.username}/main@1-main/main.tsx`],
        ["VAL_TOWN_API_KEY", env.HAMLET_TOKEN],
        ["VAL_TOWN_BASE_URL", testBaseUrl],
        ["valtown", env.HAMLET_TOKEN],
      ])
      expect(mask.hide(JSON.stringify([env.KEY, env.HAMLET_TOKEN, env.HAMLET_VAL]))).toBe(
        `["[secret KEY]","[secret HAMLET_TOKEN]","${ada.username}/main"]`,
      )
      end()
    })

    test("has the secrets of the val instead of the owner's, and masks those", async () => {
      const ada = await person()
      const [main, lib] = [await val(ada, { code: "1" }), await val(ada, { code: "2" })]
      const put = async (path: string, value: string) =>
        expectStatus(await call("PUT", path, { as: ada, body: { value } }), 204)
      await put("/v1/me/secrets/KEY", "of the account")
      await put(`/v1/vals/${main.id}/secrets/KEY`, "of this val alone")
      await put(`/v1/vals/${lib.id}/secrets/OTHER`, "of another val")
      const { env, mask, end } = await contentOf(await programOf(suite, main))
      expect([env.KEY, env.OTHER]).toEqual(["of this val alone", undefined])
      expect(mask.hide("of this val alone")).toBe("[secret KEY]")
      end()
    })

    test("has no secrets and no token for other users", async () => {
      const [ada, bob] = [await person(), await person()]
      for (const who of [ada, bob])
        expectStatus(
          await call("PUT", "/v1/me/secrets/KEY", { as: who, body: { value: "a secret" } }),
          204,
        )
      const main = await val(ada, { name: "main", code: "1" })
      const { env, mask } = await contentOf(await programOf(suite, main, bob.id))
      expect(env).toEqual({
        HAMLET_URL: testBaseUrl,
        HAMLET_VAL: `${ada.username}/main`,
        VALTOWN_ENTRYPOINT: `${testBaseUrl}/v/${ada.username}/main@1-main/main.tsx`,
        VAL_TOWN_BASE_URL: testBaseUrl,
      })
      expect(mask.hide("a secret")).toBe("a secret")
    })

    test("has the owner's key for Val Town instead of ours, and then no address for it", async () => {
      const ada = await person()
      const body = { value: "vtwn_a_key_of_ada" }
      expectStatus(await call("PUT", "/v1/me/secrets/VAL_TOWN_API_KEY", { as: ada, body }), 204)
      const main = await val(ada, { code: "1" })
      const { env, end } = await contentOf(await programOf(suite, main))
      expect(env).toMatchObject({ VAL_TOWN_API_KEY: body.value, valtown: env.HAMLET_TOKEN })
      expect(env).not.toHaveProperty("VAL_TOWN_BASE_URL")
      end()
    })

    test("has a token with the owner's read access until the process ends", async () => {
      const ada = await person()
      const main = await val(ada, { privacy: "private", code: "1" })
      const { env, end } = await contentOf(await programOf(suite, main))
      const read = async () =>
        (await call("GET", `/v1/vals/${main.id}`, { as: env.HAMLET_TOKEN })).status
      expect(await read()).toBe(200)
      end()
      expect(await read()).toBe(401)
    })
  })

  test("describes the val to its process", async () => {
    const ada = await person()
    const main = await val(ada, { name: "Main", code: "1", type: "http" })
    expect(await programOf(suite, main)).toMatchObject({
      group: main.id,
      version: 1,
      isHttp: true,
      accountId: ada.id,
      label: `${ada.username}/Main`,
      entryUrl: `${base}/${ada.username}/Main@1-main/main.tsx`,
      endpoint: `http://${ada.username}-main.hamlet.test`,
    })
  })

  const codeAt = async (entry: ValView, url: string) =>
    (await modulesOf(await programOf(suite, entry)))[url]
})

/**
 * Programs that all tests of a suite share, so that what they remember may be wrong; on a
 * connection of their own, as another node has it.
 */
function programsOf({ api, database }: ApiSuite): Programs {
  const known = programsByDatabase.get(database)
  if (known) return known
  const { lockfiles, versions, secrets, valSecrets } = api.hamlet.stores
  const { versionLockfiles, clock } = api.hamlet.nouns
  const { cipher, modules, accounts, links } = api.hamlet.parts
  const programs = createPrograms({
    lockfiles,
    versions,
    versionLockfiles,
    links,
    sources: modules.sources,
    files: createVersionFileStore(database.db),
    bundles: createBundleStore(database.db),
    pendingLockfiles: createPendingLockfiles(lockfiles, clock.now, { waitMsMax: 10_000 }),
    secrets: createSecretOpener(secrets, valSecrets, cipher),
    runTokens: accounts.runTokens,
    standardScripts: createStandardScripts(),
    imports: createImportStore(database.db),
    onError(error) {
      throw error
    },
  })
  programsByDatabase.set(database, programs)
  return programs
}

/** The contents of files by path; null deletes the file. */
type FileContents = Readonly<Record<string, string | null>>

const programsByDatabase = new WeakMap<object, Programs>()

async function findVal({ api }: ApiSuite, { id, version }: Pick<ValView, "id" | "version">) {
  const found = await api.hamlet.stores.versions.find(id, version)
  if (!found) throw new Error(`Cannot find version ${version} of the val`)
  return found
}

async function programOf(
  suite: ApiSuite,
  view: ValView,
  accountId = view.author.id ?? "",
): Promise<Program> {
  // The stores of this test have a connection of their own. It notices the commits of the server's
  // connection from the next turn of the event loop on.
  await new Promise(setImmediate)
  return programsOf(suite).of(await findVal(suite, view), accountId)
}

const contentOf = (program: Program): Promise<ProgramContent> => program.load()

async function modulesOf(program: Program): Promise<Readonly<Record<string, string>>> {
  const { modules, end } = await program.load()
  end()
  const byUrl = new Map(modules.map((module) => [module.url, module]))
  return Object.fromEntries(
    modules.map(({ url, code, location }) => [url, byUrl.get(location ?? "")?.code ?? code]),
  )
}

/** The address of a file of a val in a version. */
function toUrl({ links, version }: ValView, path = "main.tsx"): string {
  return `${links.module}@${version}-main/${path}`
}
