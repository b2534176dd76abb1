import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { openDatabases } from "@hamlet/owner-databases/testing"
import { createSeccompFilter } from "@hamlet/sandbox"
import { hasBubblewrap, isRoot, readStatus } from "@hamlet/sandbox/testing"
import { CodeTools } from "../src/runtime/parser/code-tools.ts"
import { listParsers } from "../src/runtime/parser/testing/parser-testing.ts"

if (!hasBubblewrap) notRun("the sandboxes of workers", "bubblewrap is not installed")

describe.if(hasBubblewrap)("a worker", () => {
  test("that runs statements is in a sandbox, and sees the databases", async () => {
    await using databases = await openDatabases()
    const owner = databases.owner()
    await owner.execute("create table t (a)")
    const [pid = 0] = databases.pool.pids
    expectWalls(pid)
    expect(readdirSync(`/proc/${pid}/root/databases`)).toContain(`${owner.id}.db`)
    expect(
      readMounts(pid)
        .filter(({ path, options }) => path !== "/tmp" && options.includes("rw"))
        .map(({ path }) => path),
    ).toEqual(expect.arrayContaining(["/databases"]))
  })

  test("that parses code is in a sandbox, and sees nothing else", async () => {
    const tools = new CodeTools()
    try {
      await tools.scanImports('import "x"')
      const [pid = 0] = listParsers(process.pid)
      expectWalls(pid)
      expect(readdirSync(`/proc/${pid}/root`)).not.toContain("databases")
    } finally {
      await tools.stop()
    }
  })

  test("opens databases that one without a sandbox has made, and leaves them to it", async () => {
    await using bare = await openDatabases({ isolation: "deno" })
    const owner = bare.owner()
    await owner.execute("create table t (a)")
    await bare.pool.stop()
    await using boxed = await openDatabases({ folder: bare.folder })
    expect(await boxed.owner(owner.id).execute("insert into t values (1)")).toMatchObject({
      rowsAffected: 1,
    })
    await boxed.pool.stop()
    await using again = await openDatabases({ folder: bare.folder, isolation: "deno" })
    expect(await again.owner(owner.id).execute("insert into t values (2)")).toMatchObject({
      rowsAffected: 1,
    })
  })

  test("works in a folder that was made anew", async () => {
    await using databases = await openDatabases({ limits: { idleMsMax: 20 } })
    await databases.owner().execute("select 1")
    await waitUntil(() => databases.pool.pids.length === 0)
    readdirSync(databases.folder)
    await Bun.$`rm -r ${databases.folder}`
    mkdirSync(databases.folder)
    expect(await databases.owner().rows("select 1")).toEqual([[1]])
  })
})

/**
 * What is around every sandbox: another user, no rights, no network, a root of its own, and a
 * filter.
 */
function expectWalls(pid: number): void {
  if (isRoot) expect(readStatus(pid, "Uid")).not.toStartWith("0")
  for (const set of ["CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"])
    expect([set, BigInt(`0x${readStatus(pid, set)}`)]).toEqual([set, 0n])
  expect(readStatus(pid, "NoNewPrivs")).toBe("1")
  if (createSeccompFilter("worker")) expect(readStatus(pid, "Seccomp")).toBe("2")
  for (const namespace of ["net", "pid", "mnt", "ipc", "uts"])
    expect(readlinkSync(`/proc/${pid}/ns/${namespace}`)).not.toBe(
      readlinkSync(`/proc/self/ns/${namespace}`),
    )
  const seen = readdirSync(`/proc/${pid}/root`)
  for (const name of ["etc", "home", "root", "var", "bin", "usr/bin"])
    expect(seen).not.toContain(name)
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
  expect(
    environment.filter(
      (entry) => !/^($|BUN_ENABLE_CRASH_REPORTING=|DO_NOT_TRACK=|PWD=)/.test(entry),
    ),
  ).toEqual([])
  expect(readFileSync(`/proc/${pid}/limits`, "utf8")).toMatch(/^Max core file size\s+0\s/m)
}

function readMounts(pid: number): { readonly path: string; readonly options: readonly string[] }[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").trim().split("\n")
  return lines.map((line) => {
    const [, , , , path = "", options = ""] = line.split(" ")
    return { path, options: options.split(",") }
  })
}
