import { copyFileSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { createPostgresTarget } from "../seed/postgres-target.ts"
import { type SeedTarget, seed } from "../seed/seed.ts"
import { createSqliteTarget } from "../seed/sqlite-target.ts"
import type { World } from "../seed/world.ts"
import type { Context } from "./benchmark.ts"
import { isBrief } from "./brief.ts"
import { createScratchFolder } from "./scratch.ts"

/** A database with vals, for a server to start with. */
export interface Seeded {
  readonly world: World
  readonly dataDir: string
  readonly databaseUrl?: string
  /** Removes it, unless it is kept. */
  drop(): Promise<void>
}

type Choice = Pick<Context, "keepDir">

export async function seedSqlite({ keepDir }: Choice, vals: number): Promise<Seeded> {
  const dataDir = keepDir === undefined ? createScratchFolder() : join(keepDir, `sqlite-${vals}`)
  const path = join(dataDir, "hamlet.db")
  const world = isBrief
    ? await copySeeded(path, vals)
    : await seedTarget(createSqliteTarget(path), vals)
  const drop = async () => {
    if (keepDir === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
  return { world, dataDir, drop }
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

/** A kept database stays on the server, under a name that the next run finds. */
export async function seedPostgres(
  { keepDir }: Choice,
  serverUrl: string,
  vals: number,
): Promise<Seeded> {
  const name =
    keepDir === undefined ? `hamlet_bench_${vals}_${process.pid}` : `hamlet_bench_${vals}`
  const databaseUrl = toDatabaseUrl(serverUrl, name)
  await onServer(serverUrl, async (server) => {
    const [existing] = await server`select 1 as one from pg_database where datname = ${name}`
    if (!existing) await server.unsafe(`create database ${name} encoding 'UTF8' template template0`)
  })
  const world = await seedTarget(createPostgresTarget(databaseUrl), vals)
  const dataDir = keepDir === undefined ? createScratchFolder() : join(keepDir, `postgres-${vals}`)
  mkdirSync(dataDir, { recursive: true })
  const drop = async () => {
    if (keepDir === undefined)
      await onServer(serverUrl, (server) => server.unsafe(`drop database ${name} with (force)`))
  }
  return { world, dataDir, databaseUrl, drop }
}

/** An empty database on the server. */
export async function createPostgresDatabase(
  serverUrl: string,
  purpose: string,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `hamlet_bench_${purpose}_${process.pid}`
  await onServer(serverUrl, (server) =>
    server.unsafe(`create database ${name} encoding 'UTF8' template template0`),
  )
  return {
    url: toDatabaseUrl(serverUrl, name),
    drop: async () =>
      void (await onServer(serverUrl, (server) =>
        server.unsafe(`drop database ${name} with (force)`),
      )),
  }
}

async function seedTarget(target: SeedTarget, vals: number): Promise<World> {
  try {
    return await seed(target, vals)
  } finally {
    await target.stop()
  }
}

function toDatabaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function onServer(url: string, work: (server: SQL) => Promise<unknown>): Promise<void> {
  const server = new SQL(url, { adapter: "postgres", max: 1 })
  try {
    await work(server)
  } finally {
    await server.close()
  }
}
