import { type Database, firstRow } from "./database.ts"
import { sql } from "./sql.ts"

/** Small facts about this installation. */
export interface SettingStore {
  /** The value of the setting. The first caller for a name sets it. */
  getOrSet(name: string, value: string): Promise<string>
  set(name: string, value: string): Promise<void>
}

/** Settings in the database. */
export function createSettingStore(db: Database): SettingStore {
  return {
    getOrSet: (name, value) =>
      db.write(function* () {
        yield sql`insert into settings (name, value) values (${name}, ${value}) on conflict (name) do nothing`
        const row = yield* firstRow<{ value: string }>(
          sql`select value from settings where name = ${name}`,
        )
        return row?.value ?? value
      }),
    set: (name, value) =>
      db.write(function* () {
        yield sql`insert into settings (name, value) values (${name}, ${value}) on conflict (name) do update set value = excluded.value`
      }),
  }
}
