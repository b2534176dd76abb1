import { type Database, type Migration, raw, rows, sql } from "@hamlet/database"

/** Vals whose addresses one transaction settles. */
const batchMax = 500

/** The entry file of the main branch of a val, if it is of that type. */
const entryOf = (type: string) => `(select c.file_id from branches b
  join versions n on n.branch_id = b.id and n.version = b.version
  join states c on c.branch_id = n.branch_id and c.path = n.entry_path and c.since = n.entry_since
  where b.id = vals.id and c.type = '${type}')`

/** The code of a val that was made through `/v1` has the id of its val. */
const ownFile = "(select f.id from files f where f.id = vals.id)"

const settled = `endpoint_file_id = coalesce(endpoint_file_id, ${entryOf("http")}, ${ownFile}),
  mail_file_id = coalesce(mail_file_id, ${entryOf("email")}, ${ownFile})`

const entryOfTarget = `(select c.file_id from versions n
  join branches b on b.id = n.branch_id and b.version = n.version
  join states c on c.branch_id = n.branch_id and c.path = n.entry_path and c.since = n.entry_since
  where n.branch_id = webhooks.target_val_id)`

/** Makes others wait behind the lock for no more than a tenth of a second. */
const addColumns = `do $$ begin
  loop
    begin
      perform set_config('lock_timeout', '100ms', true);
      alter table vals add column if not exists endpoint_file_id uuid, add column if not exists mail_file_id uuid;
      exit;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.2 + 0.3 * random());
    end;
  end loop;
end $$`

/**
 * The files to which the readable addresses of vals lead, and those that webhooks call. Until now they
 * were the entry file of the moment; each keeps the one that it has. Where a column is null the rule of
 * the release before holds, until the next save of the val: so do vals that its nodes make meanwhile.
 */
export const addresses: Migration = {
  version: 44,
  name: "addresses",
  worksWith: 40,
  async prepare(db) {
    if (!db.dialect.choose({ sqlite: false, postgres: true })) return
    await db.write(
      function* () {
        yield raw(addColumns)
      },
      { isPatient: true },
    )
    await settleAll(db)
  },
  statements: ({ types: { id }, choose }) =>
    choose({
      sqlite: [
        `alter table vals add column endpoint_file_id ${id}`,
        `alter table vals add column mail_file_id ${id}`,
        `update vals set ${settled}`,
        `alter table webhooks add column target_file_id ${id}`,
        `update webhooks set target_file_id = ${entryOfTarget} where target_val_id is not null`,
      ],
      postgres: [
        `alter table webhooks add column target_file_id ${id}`,
        `update webhooks set target_file_id = ${entryOfTarget} where target_val_id is not null`,
      ],
    }),
}

/** One column shows whether a val was settled; one without any of these files stays as it is. */
async function settleAll(db: Database): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000"
  for (;;) {
    const batch = await db.write(() => settleBatch(after), { isPatient: true })
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

function* settleBatch(after: string) {
  const batch = yield* rows<{ id: string }>(sql`
    select id from vals where id > ${after} order by id limit ${batchMax}`)
  const last = batch.at(-1)
  if (last)
    yield sql`update vals set ${raw(settled)} where id > ${after} and id <= ${last.id}
      and (endpoint_file_id is null or mail_file_id is null)`
  return batch
}
