import type { Script, ThreadWrite } from "../../database.ts"
import { firstRow } from "../../database.ts"
import { sql, withNotice } from "../../sql.ts"

/** Texts for the table `notes`. */
export interface NotesWrite {
  readonly texts: readonly string[]
}

/** Adds notes, tells of them at the end of the transaction, and returns how many there are. */
export function* writeNotes({ texts }: NotesWrite): Script<number | undefined> {
  for (const text of texts) yield sql`insert into notes (text) values (${text})`
  yield {
    key: "tell",
    *run() {
      yield withNotice(sql`update notes set is_told = 1`, `notes_${texts.length}`)
    },
  }
  const found = yield* firstRow<{ count: number }>`select count(*) as count from notes`
  return found?.count
}

/** A write of notes, for a thread. Two are many. */
export function byThread(texts: readonly string[]): ThreadWrite {
  return {
    name: "notes",
    module: new URL("./notes-thread.ts", import.meta.url),
    input: { texts } satisfies NotesWrite,
    isLarge: texts.length >= 2,
  }
}
