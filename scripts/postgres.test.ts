import { describe, expect, test } from "bun:test"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { SQL } from "bun"
import { startPostgres } from "./postgres.mjs"
import { findPostgresBin } from "./setup/programs.mjs"

const bin = findPostgresBin()

describe.skipIf(!bin)("startPostgres", () => {
  const options = { bin: bin ?? "", fsync: false }

  test("starts an empty server with the settings that tests rely on, and leaves nothing behind", async () => {
    const postgres = await startPostgres(options)
    const sql = new SQL(postgres.url, { max: 1 })
    const [row] =
      await sql`select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      current_setting('max_connections') as connections, current_setting('data_directory') as folder,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser`
    await sql.close()
    await postgres.stop()
    expect(row).toMatchObject({
      encoding: "UTF8",
      fsync: "off",
      connections: "200",
      is_superuser: true,
    })
    expect(existsSync(join(row.folder, ".."))).toBe(false)
  })

  test("ends the server when the process that started it is killed", async () => {
    const program = `
      import { startPostgres } from "${join(import.meta.dir, "postgres.mjs")}"
      console.log((await startPostgres(${JSON.stringify(options)})).url)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ["--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const [line] = await once(child.stdout, "data")
    child.kill("SIGKILL")
    const port = Number(new URL(String(line).trim()).port)
    const deadlineMs = Date.now() + 60_000
    while ((await canConnect(port)) && Date.now() < deadlineMs) await Bun.sleep(20)
    expect(await canConnect(port)).toBe(false)
  })

  test("reports PostgreSQL's output when it cannot start", async () => {
    await expect(startPostgres({ ...options, bin: "/nowhere" })).rejects.toThrow(
      "Cannot start PostgreSQL",
    )
  })
})

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1")
  const isOpen = await new Promise<boolean>((resolve) =>
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false)),
  )
  socket.destroy()
  return isOpen
}
