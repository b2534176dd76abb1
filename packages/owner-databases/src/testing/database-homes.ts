import { afterAll, beforeAll, describe } from "bun:test"
import { LibsqlDatabases } from "../libsql/libsql-databases.ts"
import {
  allHomes,
  createOwner,
  type OpenHome,
  openDatabases,
  type TestHome,
  type TestHomeOptions,
} from "./database-testing.ts"
import { hasLibsql, type LibsqlProcess, startLibsql } from "./libsql-process.ts"

/** A suite about databases that is the same on both homes. */
export function describeEachHome(
  title: string,
  define: (open: OpenHome, home: "files" | "libSQL") => void,
): void {
  describe(`${title} (files)`, () => define(openDatabases, "files"))
  describe.if(hasLibsql(title))(`${title} (libSQL)`, () => {
    let server: LibsqlProcess
    beforeAll(async () => {
      server = await startLibsql()
    })
    afterAll(() => server[Symbol.asyncDispose]())
    define((options) => openLibsql(server, options), "libSQL")
  })
}

/** Opens databases on a libSQL server, with small limits by default. */
export async function openLibsql(
  { options: server }: LibsqlProcess,
  options: TestHomeOptions = {},
): Promise<TestHome & { readonly pool: LibsqlDatabases }> {
  const pool = new LibsqlDatabases({
    server,
    bytesMax: 16 * 1024 * 1024,
    msMax: 20_000,
    isolation: "auto",
    homes: allHomes,
    onError: () => {},
    ...options,
  })
  return {
    pool,
    owner: (id = Bun.randomUUIDv7(), valId) => createOwner(pool, id, valId),
    [Symbol.asyncDispose]: () => pool.stop(),
  }
}
