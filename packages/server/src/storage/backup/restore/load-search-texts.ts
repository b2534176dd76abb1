import { sql } from "../../database/sql.ts"
import { foldBody, foldText } from "../../search/fold-text.ts"
import type { Loader } from "./loader.ts"

interface TextSource {
  readonly id: string
  readonly name: string
  readonly privacy: string
  readonly readme: string | null
  readonly code: string
}

/** Vals that are taken at a time. */
const valsMax = 500

/** Makes the texts that search looks through, in the order in which the vals were made. */
export async function loadSearchTexts(
  loader: Loader,
  report: (vals: number) => void,
): Promise<void> {
  let done = 0
  for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
    const found = await loader.run<TextSource>(sql`
      select v.id, v.name, v.privacy, v.readme, c.code from vals v join versions c on c.val_id = v.id and c.version = v.version
      where v.id > ${after} order by v.id limit ${valsMax}`)
    const last = found.at(-1)
    if (!last) return
    after = last.id
    await loader.insert("search_texts", ["val_id", "is_public", "name", "body"], found.map(toRow))
    done += found.length
    report(done)
  }
}

function toRow({ id, name, privacy, readme, code }: TextSource) {
  return [id, privacy === "public" ? 1 : 0, foldText(name), foldBody(code, readme)]
}
