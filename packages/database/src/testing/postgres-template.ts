import { randomBytes } from "node:crypto"
import { SQL } from "bun"
import type { Database } from "../database.ts"
import { openPostgres } from "../postgres/open.ts"

/** Creates the tables of suites in an empty database. */
export type CreateTables = (db: Database) => Promise<unknown>

/** Held while a template is created, so that two test runs do not create the same one. */
const templateLock = 7_311_042
/** From this version on a database can be copied as files, which takes half of the CPU time. */
const fileCopyVersion = 150_000

/**
 * Creates databases by copying one whose tables were created once, which is several times faster than
 * creating them in each. The template is dropped when nothing uses it any more: no suite that is going to
 * run, no open database. On a temporary server it is kept for all test runs on that server.
 */
export class PostgresTemplate {
  readonly #serverUrl: string
  readonly #createTables: CreateTables | undefined
  readonly #isKept: boolean
  #users = 0
  #name: Promise<string> | undefined
  /** Creates and drops databases, as long as the template is used. */
  #client: SQL | undefined
  #strategy: Promise<string> | undefined

  constructor(
    serverUrl: string,
    createTables: CreateTables | undefined,
    { isKept }: { readonly isKept: boolean },
  ) {
    this.#serverUrl = serverUrl
    this.#createTables = createTables
    this.#isKept = isKept
  }

  acquire(): void {
    this.#users += 1
  }

  async release(): Promise<void> {
    this.#users -= 1
    if (this.#users > 0) return
    const name = this.#isKept ? undefined : this.#name
    if (name !== undefined) {
      this.#name = undefined
      await this.#drop(await name)
    }
    const client = this.#client
    this.#client = undefined
    await client?.close()
  }

  async createDatabase(options: {
    readonly isEmpty: boolean
  }): Promise<{ url: string; drop: () => Promise<void> }> {
    this.acquire()
    try {
      const isEmpty = options.isEmpty || this.#createTables === undefined
      const name = await this.#create(isEmpty ? "template0" : await this.#template())
      const drop = async () => {
        await this.#drop(name)
        await this.release()
      }
      return { url: this.#urlOf(name), drop }
    } catch (error) {
      await this.release()
      throw error
    }
  }

  #template(): Promise<string> {
    this.#name ??= this.#isKept ? this.#createKeptTemplate() : this.#createTemplate()
    return this.#name
  }

  /** Creates the template unless another test run has done so. */
  async #createKeptTemplate(): Promise<string> {
    const name = "hamlet_test_template"
    const client = new SQL(this.#serverUrl, { max: 1 })
    try {
      await client`select pg_advisory_lock(${templateLock})`
      const found = await client`select 1 from pg_database where datname = ${name}`
      if (found.length === 0)
        await client.unsafe(`alter database ${await this.#createTemplate()} rename to ${name}`)
      return name
    } finally {
      // The lock ends with the connection.
      await client.close()
    }
  }

  async #createTemplate(): Promise<string> {
    const name = await this.#create("template0")
    const db = await openPostgres(this.#urlOf(name), { connectionsMax: 2 })
    try {
      await this.#createTables?.(db)
    } finally {
      await db.stop()
    }
    return name
  }

  async #create(from: string): Promise<string> {
    const name = `hamlet_test_${randomBytes(6).toString("hex")}`
    this.#strategy ??= this.#findStrategy()
    await this.#command(`create database ${name} template ${from} ${await this.#strategy}`)
    return name
  }

  async #findStrategy(): Promise<string> {
    const [row] = await this.#command<{ server_version_num: string }>("show server_version_num")
    return Number(row?.server_version_num) < fileCopyVersion ? "" : "strategy file_copy"
  }

  async #drop(name: string): Promise<void> {
    await this.#command(`drop database ${name} with (force)`)
  }

  async #command<Row>(text: string): Promise<readonly Row[]> {
    this.#client ??= new SQL(this.#serverUrl, { max: 1 })
    return await this.#client.unsafe<Row[]>(text)
  }

  #urlOf(name: string): string {
    const url = new URL(this.#serverUrl)
    url.pathname = `/${name}`
    return url.href
  }
}
