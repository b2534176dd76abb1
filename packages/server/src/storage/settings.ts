import { type Database, firstRow, sql } from "@hamlet/database"

/** Small facts about this installation, in the database. */
export type SettingStore = ReturnType<typeof createSettingStore>

export function createSettingStore(db: Database) {
  return {
    /** The value of the setting. The first caller for a name sets it. */
    getOrSet: (name: string, value: string): Promise<string> =>
      db.write(function* () {
        yield sql`insert into settings (name, value) values (${name}, ${value}) on conflict (name) do nothing`
        const row = yield* firstRow<{ value: string }>`
          select value from settings where name = ${name}`
        return row?.value ?? value
      }),
    async find(name: string): Promise<string | undefined> {
      const [row] = await db.read<{
        value: string
      }>`select value from settings where name = ${name}`
      return row?.value
    },
    set: (name: string, value: string): Promise<void> =>
      db.run`
        insert into settings (name, value) values (${name}, ${value}) on conflict (name) do update set value = excluded.value`,
  }
}
