import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { createPostgresTarget } from "../seed/postgres-target.ts"
import { type SeedTarget, seed } from "../seed/seed.ts"
import { createSqliteTarget } from "../seed/sqlite-target.ts"
import type { World } from "../seed/world.ts"
import type { Context } from "./benchmark.ts"
import { isBrief } from "./brief.ts"
import { type Program, startServer } from "./program.ts"
import { createScratchFolder } from "./scratch.ts"

/** A database with vals, for a server to start with. */
export interface Seeded {
  readonly world: World
  readonly dataDir: string
  readonly databaseUrl?: string
  /** Removes it, unless it is kept. */
  drop(): Promise<void>
}

type Choice = Pick<Context, "postgresUrl"> & Partial<Pick<Context, "keepDir" | "isPostgresOnly">>

export type DatabaseName = "SQLite" | "PostgreSQL"

/** Measures on SQLite and on PostgreSQL, as far as they are there and wanted. */
export async function onEachDatabase<T>(
  { postgresUrl, keepDir, isPostgresOnly = false }: Choice,
  measure: (database: DatabaseName, seed: (vals: number) => Promise<Seeded>) => Promise<T>,
): Promise<T[]> {
  return [
    ...(isPostgresOnly ? [] : [await measure("SQLite", (vals) => seedSqlite(keepDir, vals))]),
    ...(postgresUrl === undefined
      ? []
      : [await measure("PostgreSQL", (vals) => seedPostgres(keepDir, postgresUrl, vals))]),
  ]
}

async function seedSqlite(keepDir: string | undefined, vals: number): Promise<Seeded> {
  const dataDir = keepDir === undefined ? createScratchFolder() : join(keepDir, `sqlite-${vals}`)
  const path = join(dataDir, "hamlet.db")
  const world = isBrief
    ? await copySeeded(path, vals)
    : await seedTarget(createSqliteTarget(path), vals)
  // In a brief run, a server that others share may use it.
  const drop = async () => {
    if (keepDir === undefined && !isBrief) rmSync(dataDir, { recursive: true, force: true })
  }
  return { world, dataDir, drop }
}

const servers = new Map<World, Promise<Program>>()

/** The events of a world have fixed times. A server must not delete the runs among them as old ones. */
const settings = { HAMLET_RUNS_KEPT_DAYS: "3650" }

/** A server with these vals. Benchmarks that are only tried share one, and see what others have saved. */
export async function startSeeded(seeded: Seeded): Promise<Program> {
  const start = () => startServer({ ...seeded, settings })
  if (!isBrief || seeded.databaseUrl !== undefined) return start()
  const server = servers.get(seeded.world) ?? start()
  servers.set(seeded.world, server)
  return { ...(await server), stop: async () => {} }
}

/** Stops the servers that benchmarks have shared, if any. */
export async function stopSeeded(): Promise<void> {
  for (const server of servers.values()) await (await server).stop()
}

const seeded = new Map<number, { readonly world: World; readonly path: string }>()

/** Seeding takes longer than trying a benchmark does, so all of them get copies. */
async function copySeeded(to: string, vals: number): Promise<World> {
  const path = join(createScratchFolder(), "hamlet.db")
  const { world, path: from } = seeded.get(vals) ?? {
    world: await seedTarget(createSqliteTarget(path), vals),
    path,
  }
  seeded.set(vals, { world, path: from })
  copyFileSync(from, to)
  return world
}

let createdDatabases = 0

/** A kept database stays on the server, under a name that the next run finds. */
async function seedPostgres(
  keepDir: string | undefined,
  serverUrl: string,
  vals: number,
): Promise<Seeded> {
  const name =
    keepDir === undefined
      ? `hamlet_bench_${vals}_${process.pid}_${++createdDatabases}`
      : `hamlet_bench_${vals}`
  const databaseUrl = toDatabaseUrl(serverUrl, name)
  await withConnection(serverUrl, async (server) => {
    const [existing] = await server`select 1 as one from pg_database where datname = ${name}`
    if (!existing) await server.unsafe(toCreation(name))
  })
  const world = await seedTarget(createPostgresTarget(databaseUrl), vals)
  const dataDir = keepDir === undefined ? createScratchFolder() : join(keepDir, `postgres-${vals}`)
  mkdirSync(dataDir, { recursive: true })
  const drop = async () => {
    if (keepDir === undefined) await dropDatabase(serverUrl, name)
  }
  return { world, dataDir, databaseUrl, drop }
}

/** Works with empty databases on the server, by their purposes. They are dropped afterwards. */
export async function withPostgresDatabases<Purpose extends string, T>(
  serverUrl: string,
  purposes: readonly Purpose[],
  work: (urls: Readonly<Record<Purpose, string>>) => Promise<T>,
): Promise<T> {
  const names = purposes.map((purpose) => `hamlet_bench_${purpose}_${process.pid}`)
  const urls = purposes.map((purpose, index) => [
    purpose,
    toDatabaseUrl(serverUrl, names[index] ?? ""),
  ])
  await withConnection(serverUrl, async (server) => {
    for (const name of names) await server.unsafe(toCreation(name))
  })
  try {
    return await work(Object.fromEntries(urls) as Record<Purpose, string>)
  } finally {
    for (const name of names) await dropDatabase(serverUrl, name)
  }
}

/** The process that has started all others of a PostgreSQL on this machine. */
export function findPostgresPid(url: string): Promise<number> {
  return withConnection(url, async (server) => {
    const [row] = await server<{ pid: number }[]>`select pg_backend_pid() as pid`
    const status = readFileSync(`/proc/${row?.pid}/status`, "utf8")
    return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
  })
}

/** Works with a connection to a PostgreSQL. */
export async function withConnection<T>(
  url: string,
  work: (server: SQL) => Promise<T>,
): Promise<T> {
  const server = new SQL(url, { adapter: "postgres", max: 1 })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

async function seedTarget(target: SeedTarget, vals: number): Promise<World> {
  try {
    return await seed(target, vals)
  } finally {
    await target.stop()
  }
}

function toCreation(name: string): string {
  return `create database ${name} encoding 'UTF8' template template0`
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withConnection(serverUrl, (server) => server.unsafe(`drop database ${name} with (force)`))
}

function toDatabaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
