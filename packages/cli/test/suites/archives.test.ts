import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { zipSync } from "fflate"
import { write } from "../support/folder.ts"
import { hamletPath } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { readVal, saveFiles, withApp } from "../support/trees.ts"

describe("export, import", () => {
  const stage = useStage()

  describe("export", () => defineExport(stage))
  describe("import", () => {
    defineImport(stage)
    defineResume(stage)
    defineHostile(stage)
  })
})

/** A zip file with these entries. */
function writeZip(person: Person, path: string, entries: Readonly<Record<string, unknown>>): void {
  const bytes = Object.entries(entries).map(([name, value]) => [
    name,
    Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
  ])
  write(person, path, zipSync(Object.fromEntries(bytes)))
}

/** A user's vals as the API shows them, without what differs between servers or owners. */
async function describeVals(person: Person) {
  const { id } = await person.client.getMe()
  const vals = await Array.fromAsync(person.client.items("listVals", { userId: id, limit: 100 }))
  const described = vals.map(async (val) => {
    const { id, url, links, author, likeCount, runStartAt, runEndAt, ...rest } = val
    const versions = (
      await Array.fromAsync(person.client.items("listVersions", { val_id: id }))
    ).map(({ val_id, ...version }) => version)
    const comments = (
      await Array.fromAsync(person.client.items("listComments", { val_id: id }))
    ).map((one) => [one.author.username, one.comment, one.createdAt])
    return [val.name, { ...rest, versions, comments }] as const
  })
  return Object.fromEntries(await Promise.all(described))
}

/** Vals of several kinds, which import each other. */
async function makeVals({ client, username }: Person): Promise<void> {
  await client.createVal({
    name: "lib",
    code: "export default 1",
    privacy: "public",
    readme: "# Lib\n\né 😀",
  })
  const app = await client.createVal({
    name: "app",
    code: `import "/v/${username}/lib"`,
    privacy: "unlisted",
    type: "http",
  })
  for (const more of ["two\r\n", "three", `import "/v/${username}/lib" // four`])
    await client.createVersion({ val_id: app.id, code: more })
  await client.deleteVersion({ val_id: app.id, version: 2 })
  await client.createVal({ name: "Alone", code: "\n" })
  await client.createComment({ val_id: app.id, comment: "my **own**" })
}

function defineExport(stage: () => Stage): void {
  test("keeps all files of a val that has several, and their types", async () => {
    const [ada, bob] = [await withApp(stage(), "exported1"), await stage().person("exported2")]
    await ada.client.updateFile({ val_id: ada.id, path: "lib/a.ts", type: "email" })
    const texts = await ada.client.createFolder({ name: "texts", privacy: "private" })
    await saveFiles(ada, texts.id, { "a.md": "a", "b.md": "" })
    await ada.print(["export", "vals.zip"])
    const imported = ["import", join(ada.folder, "vals.zip")]
    await bob.print(imported)
    for (const [name, id] of [
      ["app", ada.id],
      ["texts", texts.id],
    ] as const) {
      const val = await bob.client.getValByName({ username: "exported2", val_name: name })
      expect(await readVal(bob, val.id)).toEqual(await readVal(ada, id))
      const types = async (person: Person, val_id: string) =>
        (await person.client.listFiles({ val_id, path: "", recursive: true })).data.map(
          ({ path, type }) => [path, type],
        )
      expect(await types(bob, val.id)).toEqual(await types(ada, id))
    }
    const again = (await bob.json(imported)).find(({ name }) => name === "app")
    expect(again.status).toBe("unchanged")
  })

  test("writes everything into an archive that import restores", async () => {
    const [ada, bob] = [await stage().person("export1"), await stage().person("export2")]
    await makeVals(ada)
    const { id } = await ada.client.getValByName({ username: "export1", val_name: "lib" })
    await bob.client.createComment({ val_id: id, comment: "from bob" })
    expect(await ada.print(["export", "vals.zip"])).toBe("vals.zip\n")
    const before = await describeVals(ada)
    const { data } = await ada.client.listVals({ userId: (await ada.client.getMe()).id })
    for (const val of data) await ada.client.deleteVal({ val_id: val.id })

    expect(
      (await ada.json(["import", "vals.zip"])).map(({ name, status, version, message }) => [
        name,
        status,
        version,
        message,
      ]),
    ).toEqual([
      ["Alone", "created", 1, undefined],
      ["lib", "created", 1, "comments of others were left out: 1"],
      ["app", "created", 4, undefined],
    ])
    const after = await describeVals(ada)
    // What bob said, he can say again.
    expect(after).toEqual({ ...before, lib: { ...before.lib, comments: [] } } as typeof after)
    expect(after.lib?.referenceCount).toBe(0)
    expect(after.app?.comments).toMatchObject([["export1", "my **own**", expect.any(String)]])
    expect(
      (await ada.print(["import", "vals.zip"])).split("\n").map((line) => line.split("\t")[0]),
    ).toEqual(["unchanged", "unchanged", "unchanged", ""])
  })

  test("imports comments of the archive's owner as comments of the importing user", async () => {
    const ada = await stage().person("export3")
    await makeVals(ada)
    await ada.print(["export", "vals.zip", "app"])
    const carl = await stage().person("export4")
    await carl.print(["import", join(ada.folder, "vals.zip")])
    expect((await describeVals(carl)).app?.comments).toMatchObject([
      ["export4", "my **own**", expect.any(String)],
    ])
  })

  test("exports named vals, also of other users, and prints the totals", async () => {
    const [ada, bob] = [await stage().person("export5"), await stage().person("export6")]
    await makeVals(ada)
    await bob.client.createVal({ name: "mine", code: "1" })
    expect(await bob.json(["export", "some.zip", "mine", "export5/lib"])).toMatchObject([
      { file: "some.zip", vals: 2, versions: 2, comments: 0 },
    ])
    expect(
      (await bob.json(["import", "some.zip"])).map(({ name, status }) => [name, status]),
    ).toEqual([
      ["lib", "created"],
      ["mine", "unchanged"],
    ])
    expect(await bob.hamlet(["export", "x.zip", "lib", "export5/lib"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("two vals"),
    })
    expect((await bob.hamlet(["export", "x.zip", "export5/Alone"])).exit).toBe(4)
    expect((await bob.hamlet(["export", "x.zip", "mine@1"])).exit).toBe(2)
    expect(readdirSync(bob.folder)).toEqual(["some.zip"])
  })

  test("overwrites a file only with --force, follows a link, and writes to standard output", async () => {
    const ada = await stage().person("export7")
    await ada.client.createVal({ name: "hello", code: "1" })
    write(ada, "real.zip", "mine")
    symlinkSync("real.zip", join(ada.folder, "link.zip"))
    expect(await ada.hamlet(["export", "link.zip"])).toMatchObject({
      exit: 5,
      stdout: "",
      stderr: expect.stringContaining("--force"),
    })
    expect(readFileSync(join(ada.folder, "real.zip"), "utf8")).toBe("mine")
    await ada.print(["export", "link.zip", "--force"])
    expect((await ada.json(["import", "real.zip"]))[0]).toMatchObject({
      name: "hello",
      status: "unchanged",
    })
    const env = { ...process.env, HAMLET_CONFIG_DIR: ada.configDir } as Record<string, string>
    const run = (line: string) =>
      Bun.spawnSync(["sh", "-c", line, hamletPath], { env, cwd: ada.folder })
    expect(run('"$0" export - > out.zip').stderr.toString()).toStartWith("Wrote 1 vals")
    expect((await ada.json(["import", "out.zip"]))[0]).toMatchObject({
      name: "hello",
      status: "unchanged",
    })
    expect(run('"$0" export - > /dev/full').exitCode).toBe(1)
    expect(readdirSync(ada.folder).sort()).toEqual(["link.zip", "out.zip", "real.zip"])
  })

  test("leaves no file when the disk is full, the path is not writable, or it is interrupted", async () => {
    const ada = await stage().person("export8")
    await ada.client.createVal({ name: "hello", code: "1" })
    mkdirSync(join(ada.folder, "folder"))
    const table: readonly (readonly [path: string, exit: number, text: string])[] = [
      ["/dev/full", 1, "no space left"],
      ["folder", 2, "it is a folder"],
      ["missing/x.zip", 1, 'Cannot write "missing/x.zip"'],
    ]
    for (const [path, exit, text] of table)
      expect([path, await ada.hamlet(["export", path])]).toEqual([
        path,
        { exit, stdout: "", stderr: expect.stringContaining(text) },
      ])
    expect(existsSync("/dev/full")).toBe(true)
    const { promise: isAsked, resolve } = Promise.withResolvers<void>()
    using silent = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch({ url }) {
        if (new URL(url).pathname === "/v1/me")
          return Response.json({ id: "01890000-0000-7000-8000-000000000000", username: "x" })
        resolve()
        return new Promise<Response>(() => {})
      },
    })
    await using waiting = ada.start(["export", "late.zip"], {
      env: { HAMLET_URL: `http://localhost:${silent.port}`, HAMLET_TOKEN: "x" },
    })
    await isAsked
    waiting.signal("SIGINT")
    expect((await waiting.ended()).exit).toBe(130)
    expect(readdirSync(ada.folder)).toEqual(["folder"])
  })
}

function defineImport(stage: () => Stage): void {
  test("accepts a folder of files, and imports dependencies first", async () => {
    const ada = await stage().person("import1")
    write(
      ada,
      "vals/a_app.ts",
      '// hamlet: name=app privacy=public type=http\nimport { x } from "./zlib.ts"\nimport "/v/import1/mid"\n',
    )
    write(ada, "vals/deep/mid.tsx", 'import y from "../import1/zlib"\n')
    write(ada, "vals/zlib.ts", "export const x = 1\n")
    for (const ignored of [
      "vals/package.json",
      "vals/.git/x.ts",
      "vals/node_modules/y/z.ts",
      "vals/types.d.ts",
      "vals/readme.md",
    ])
      write(ada, ignored, "ignored")
    expect(await ada.print(["import", "vals", "--dry-run"])).toBe(
      "created\tzlib\t1\t\ncreated\tmid\t1\t\ncreated\tapp\t1\t\n",
    )
    expect(await describeVals(ada)).toEqual({})
    expect(await ada.print(["import", "vals"])).toBe(
      "created\tzlib\t1\t\ncreated\tmid\t1\t\ncreated\tapp\t1\t\n",
    )
    expect((await describeVals(ada)).app).toMatchObject({
      privacy: "public",
      type: "http",
      code: expect.stringMatching(/^import/),
    })
  })

  test("accepts JSON files of other services, from a folder and from a zip file", async () => {
    const [ada, bob] = [await stage().person("import2"), await stage().person("import3")]
    const files = {
      "export/vals/one/hello.json": {
        id: "7f1c",
        name: "hello",
        code: "console.log(1)",
        privacy: "public",
        readme: "hi",
        version: 17,
        type: "httpnext",
        createdAt: "2023-05-01T12:00:00Z",
        author: { username: "x" },
        likeCount: 3,
      },
      "export/vals/flag.json": { name: "flag", code: "2", public: true, version: 0 },
      "export/vals/by_file.json": {
        code: "3",
        privacy: "friends",
        type: "quantum",
        readme: 7,
        createdAt: "whenever",
      },
      "export/readme.txt": "not a val",
      "__MACOSX/._hello.json": "rubbish",
    }
    for (const [path, value] of Object.entries(files))
      write(ada, path, typeof value === "string" ? value : `\ufeff${JSON.stringify(value)}`)
    writeZip(bob, "export.zip", files)
    expect((await ada.json(["import", "export"])).map(({ status }) => status)).toEqual([
      "created",
      "created",
      "created",
    ])
    expect((await bob.json(["import", "export.zip"])).map(({ status }) => status)).toEqual([
      "created",
      "created",
      "created",
    ])
    const at = "2023-05-01T12:00:00.000Z"
    const hello = {
      version: 17,
      type: "http",
      privacy: "public",
      readme: "hi",
      createdAt: at,
      versionCreatedAt: at,
      code: "console.log(1)",
    }
    for (const person of [ada, bob])
      expect(await describeVals(person)).toMatchObject({
        hello,
        flag: { version: 1, privacy: "public" },
        by_file: { version: 1, privacy: "private", type: "script", readme: null },
      })
  })

  test("--if-exists decides about existing vals, and --versions skips old versions and reports it", async () => {
    const ada = await stage().person("import4")
    await ada.client.createVal({ name: "hello", code: "mine" })
    const versions = [1, 2, 3].map((version) => ({ version, code: `v${version}` }))
    writeZip(ada, "x.zip", {
      "vals/hello.json": { name: "hello", versions },
      "vals/other.json": { name: "other", versions },
    })
    const statuses = async (...more: readonly string[]) =>
      (await ada.hamlet(["import", "x.zip", "--json", ...more])).stdout
        .split("\n")
        .map((line) => line && JSON.parse(line).status)
    expect(await statuses("--dry-run")).toEqual(["skipped", "created", ""])
    expect(await ada.hamlet(["import", "x.zip", "--if-exists", "fail", "--versions", "1"])).toEqual(
      {
        exit: 1,
        stdout: expect.stringMatching(/^failed\thello\t1\t.+differs\ncreated\tother\t3\t\n$/),
        stderr: expect.stringMatching(/^Cannot import val "hello": .+\n1 created, 1 failed\n$/),
      },
    )
    expect((await describeVals(ada)).other?.versions).toMatchObject([{ version: 3 }])
    expect(await statuses("--if-exists", "version", "--dry-run")).toEqual([
      "updated",
      "unchanged",
      "",
    ])
    expect(await ada.hamlet(["import", "x.zip"])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("1 unchanged, 1 skipped\n"),
    })
    expect((await ada.hamlet(["import", "x.zip", "--if-exists", "replace"])).exit).toBe(2)
    expect((await ada.hamlet(["import", "x.zip", "--versions", "0"])).exit).toBe(2)
  })

  test("shows progress at a terminal, and ends with totals", async () => {
    const ada = await stage().person("import5")
    write(ada, "a.ts", "1")
    write(ada, "no name.ts", "1")
    await using program = ada.atTerminal(["import", "."])
    const { exit, stdout } = await program.ended()
    expect(exit).toBe(1)
    expect(stdout).toContain('Cannot make a val of "no name.ts"')
    expect(stdout).toContain("1 created, 1 failed")
  })
}

function defineResume(stage: () => Stage): void {
  test("continues after it was killed, and never leaves a partial val", async () => {
    const ada = await stage().person("import6")
    const names = Array.from({ length: 240 }, (_, index) => `val${index}`)
    const code = (name: string, version: number) => `// ${name} ${version}\n${"x".repeat(8_000)}`
    const toVal = (name: string) => ({
      name,
      versions: [1, 2].map((version) => ({ version, code: code(name, version) })),
    })
    writeZip(
      ada,
      "many.zip",
      Object.fromEntries(names.map((name) => [`vals/${name}.json`, toVal(name)])),
    )
    await using first = ada.start(["import", "many.zip"])
    await first.waitFor(/created/)
    first.signal("SIGKILL")
    await first.ended()
    const there = await describeVals(ada)
    for (const val of Object.values(there))
      expect([val.version, val.versions.length]).toEqual([2, 2])
    const lines = (await ada.print(["import", "many.zip"])).slice(0, -1).split("\n")
    expect(lines).toHaveLength(names.length)
    for (const line of lines) expect(line).toMatch(/^(created|unchanged)\tval\d+\t2\t$/)
    expect(lines.filter((line) => line.startsWith("unchanged")).length).toBeGreaterThanOrEqual(
      Object.keys(there).length,
    )
    expect(Object.keys(await describeVals(ada)).sort()).toEqual([...names].sort())
  })

  test("reports its progress when the server becomes unreachable, and that it can be continued", async () => {
    const ada = await stage().person("import7")
    for (let index = 0; index < 250; index += 1) write(ada, `vals/v${index}.ts`, String(index))
    using flaky = Bun.serve({
      port: 0,
      async fetch(request) {
        const { vals } = (await request.json()) as { vals: { name: string }[] }
        // Both batches are under way at the same time, and either can come first.
        if (vals.length < 200)
          return Response.json({ code: "internal", message: "Cannot go on" }, { status: 500 })
        return Response.json({
          results: vals.map(({ name }) => ({ name, status: "created", version: 1 })),
        })
      },
    })
    const env = { HAMLET_URL: `http://localhost:${flaky.port}`, HAMLET_TOKEN: "x" }
    const { exit, stdout, stderr } = await ada.hamlet(["import", "vals"], { env })
    expect([exit === 0, stdout.trim().split("\n").length]).toEqual([false, 200])
    expect(stderr).toContain(
      "200 created, then the import stopped; run the same command again to continue",
    )
  })
}

function defineHostile(stage: () => Stage): void {
  test("imports the valid files of a source, and names each invalid one", async () => {
    const ada = await stage().person("import8")
    writeZip(ada, "mixed.zip", {
      "vals/good.json": { name: "good", versions: [{ code: "1" }], unknown: { field: 1 } },
      "vals/text.json": "{not json",
      "vals/list.json": [],
      "vals/null.json": null,
      "vals/no_code.json": { name: "no_code" },
      "vals/empty.json": { name: "empty", versions: [] },
      "vals/code.json": { name: "code", code: 7 },
      "vals/name.json": { name: "no name", code: "1" },
      "vals/again.json": { name: "GOOD", code: "2" },
      "vals/comment.json": { name: "comment", code: "1", comments: [{}] },
      "vals/server.json": { name: "server", code: "x".repeat(256_001) },
      "vals/large.json": {
        name: "large",
        versions: Array.from({ length: 12 }, (_, index) => ({
          code: `${index}${"x".repeat(200_000)}`,
        })),
      },
    })
    const { exit, stdout, stderr } = await ada.hamlet(["import", "mixed.zip", "--json"])
    const results = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>)
    expect([exit, stderr]).toEqual([1, ""])
    expect(results.filter(({ status }) => status !== "failed").map(({ file }) => file)).toEqual([
      "vals/again.json",
    ])
    expect(results).toHaveLength(12)
    const messageOf = (file: string) =>
      results.find((one) => one.file === `vals/${file}.json`)?.message
    expect(messageOf("text")).toBe('Cannot make a val of "vals/text.json": it is not JSON')
    expect(messageOf("good")).toContain('is also in "vals/again.json"')
    expect(messageOf("server")).toContain("256000")
    expect(messageOf("large")).toContain("larger than the server allows")
    expect(
      (await ada
        .json(["import", "mixed.zip", "--versions", "1"])
        .catch((error: Error) => error.message)) as string,
    ).toContain('"name":"large","status":"created"')
  })

  test("refuses files that are not archives, newer formats and paths outside the archive", async () => {
    const ada = await stage().person("import9")
    write(ada, "text.zip", "hello")
    write(ada, "nothing.zip", zipSync({}))
    writeZip(ada, "out.zip", { "../a.json": { name: "a", code: "1" } })
    const manifest = { format: "hamlet-archive", formatVersion: 4 }
    writeZip(ada, "future.zip", {
      "manifest.json": manifest,
      "vals/a.json": { name: "a", code: "1" },
    })
    const table: readonly (readonly [path: string, exit: number, text: string])[] = [
      ["text.zip", 2, "neither a zip file nor a folder"],
      ["nothing.zip", 2, "no .json, .ts or .tsx files"],
      ["out.zip", 1, '"../a.json" points outside the archive'],
      ["future.zip", 1, "has format 4"],
      ["gone.zip", 4, "it does not exist"],
    ]
    for (const [path, exit, text] of table)
      expect([path, await ada.hamlet(["import", path])]).toEqual([
        path,
        { exit, stdout: "", stderr: expect.stringContaining(text) },
      ])
    expect(await describeVals(ada)).toEqual({})
  })

  test("requires only the scope val:write", async () => {
    const ada = await stage().person("import10")
    const holderOf = async (scope: "val:write" | "val:read") =>
      stage().holder((await ada.client.createToken({ name: "x", scopes: [scope] })).token, false)
    const [writer, reader] = [await holderOf("val:write"), await holderOf("val:read")]
    for (const person of [writer, reader]) write(person, "hello.ts", "1")
    const call = (person: Person) =>
      person.hamlet(["import", "."], {
        env: { HAMLET_URL: stage().url, HAMLET_TOKEN: person.token },
      })
    expect(await call(reader)).toMatchObject({
      exit: 3,
      stdout: "",
      stderr: expect.stringContaining("val:write"),
    })
    expect(await call(writer)).toMatchObject({ exit: 0, stdout: "created\thello\t1\t\n" })
  })
}
