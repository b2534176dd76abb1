import { afterAll, beforeAll } from "bun:test"
import type { val } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { hasLibsql, type LibsqlProcess, startLibsql } from "@hamlet/owner-databases/testing"
import type { z } from "zod"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import {
  expectStatus,
  openApi,
  type TestApi,
  type TestResponse,
  type TestUser,
} from "../support/api.ts"
import {
  describePostgres,
  describeSqlite,
  type OpenDatabase,
  type TestDatabase,
} from "../support/databases.ts"
import { toEndedRun } from "../support/fakes/ended-run.ts"

export type ValView = z.infer<typeof val>

/** A server that the tests of a suite share; each test adds users of its own. */
export interface ApiSuite {
  readonly api: TestApi
  readonly database: TestDatabase
  readonly call: TestApi["call"]
  /** Adds a user that no other test uses. */
  addUser(): Promise<TestUser>
  /** A user that all tests share, for tests that change nothing. */
  sharedUser(): Promise<TestUser>
  /** Creates a val, by default a public one with a generated name. */
  val(owner: TestUser, fields?: Readonly<Record<string, unknown>>): Promise<ValView>
  /** Records a run, by default a successful one by its owner through the API. */
  run(val: ValView, fields?: Partial<RunRecord>): Promise<RunRecord>
}

/**
 * Defines the suite once for each database; `env` are settings of the operator. The second time is
 * not whole: cases that cannot differ between the databases may be left out.
 */
export function describeApi(
  title: string,
  define: (suite: ApiSuite, isWhole: boolean) => void,
  env: Record<string, string> = {},
): void {
  describeSqliteApi(title, (suite) => define(suite, true), env)
  describePostgres(title, (open) => defineApi(open, (suite) => define(suite, false), env))
}

/** An API suite about something that cannot differ between the databases. */
export function describeSqliteApi(
  title: string,
  define: (suite: ApiSuite) => void,
  env: Record<string, string> = {},
): void {
  describeSqlite(title, (open) => defineApi(open, define, env))
}

/** An API suite whose users have their databases on a libSQL server, which nodes share. */
export function describeLibsqlApi(
  title: string,
  define: (suite: ApiSuite) => void,
  env: Record<string, string> = {},
): void {
  const name = `${title}, with a libSQL server`
  if (!hasLibsql(name)) return
  describePostgres(name, (open) => {
    const servers: LibsqlProcess[] = []
    const start = async () => {
      const server = await startLibsql()
      servers.push(server)
      return { ...env, ...server.env }
    }
    defineApi(open, define, start)
    afterAll(() => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())))
  })
}

function defineApi(
  open: OpenDatabase,
  define: (suite: ApiSuite) => void,
  env: Record<string, string> | (() => Promise<Record<string, string>>),
): void {
  let api: TestApi | undefined
  let database: TestDatabase | undefined
  let people = 0
  const addUser = () => {
    people += 1
    return opened(api).addUser(`person${people}`)
  }
  beforeAll(async () => {
    const settings = typeof env === "function" ? await env() : env
    api = await openApi(async (options) => {
      database = await open(options)
      return database
    }, settings)
  })
  afterAll(() => api?.close())
  define({
    get api() {
      return opened(api)
    },
    get database() {
      return opened(database)
    },
    call: (...request) => opened(api).call(...request),
    addUser,
    sharedUser: once(addUser),
    val: (owner, fields) => addVal(opened(api), owner, fields),
    run: (ran, fields) => addRun(opened(api), ran, fields),
  })
}

/** Waits for the next millisecond, so that later records have a later time. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  await waitUntil(() => Date.now() !== now)
}

/** Calls `make` once and returns the same promise every time. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function opened<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error("Cannot use the server: the suite has not begun yet")
  return thing
}

async function addVal(
  api: TestApi,
  owner: TestUser,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<ValView> {
  return expectStatus(
    await api.call("POST", "/v1/vals", {
      as: owner,
      body: { code: "1", privacy: "public", ...fields },
    }),
    200,
  ).json
}

async function addRun(
  api: TestApi,
  val: ValView,
  fields: Partial<RunRecord> = {},
): Promise<RunRecord> {
  const startedAt = fields.startedAt ?? Date.now()
  const run = toEndedRun({
    valId: val.id,
    version: val.version,
    ownerId: val.author.id,
    startedAt,
    endedAt: startedAt + 5,
    ...fields,
  })
  await api.hamlet.stores.runs.record([run])
  return run
}

/** The ids of the items of a list. */
export function idsOf(response: TestResponse): readonly string[] {
  return expectStatus(response, 200).json.data.map((item: { id: string }) => item.id)
}

/** The names of the vals of a list. */
export function namesOf(response: TestResponse): readonly string[] {
  return expectStatus(response, 200).json.data.map((item: { name: string }) => item.name)
}

/** The status and the error code of a response. */
export function refusalOf(response: TestResponse): readonly [number, string] {
  return [response.status, response.json?.code]
}
