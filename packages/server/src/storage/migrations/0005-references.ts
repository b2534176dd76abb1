import type { Ddl } from "../database/ddl.ts"
import type { Migration } from "../database/migrate.ts"

/**
 * References follow what runs: a pinned import refers to the val that it is pinned to, whatever the
 * name of that val is now. Before, they followed names: a renamed val lost its references to the
 * next val with its name. An import without a pin still means the val with the name.
 *
 * An idempotency key records its node and its progress, in the transaction of each write.
 */
export const references: Migration = {
  version: 5,
  name: "references",
  statements: (ddl) => [
    "create index imports_by_pin on imports (pinned_val_id) where pinned_val_id is not null",
    ...correctDependencies,
    ...idempotency(ddl),
  ],
}

/** The current versions and their imports. */
const imported = `
  from vals f
  join versions c on c.val_id = f.id and c.version = f.version
  join imports i on i.val_id = f.id and i.version = f.version
  left join users u on i.pinned_val_id is null and u.username_key = i.username_key
  left join vals n on n.owner_id = u.id and n.name_key = i.name_key
  join vals t on t.id = coalesce(i.pinned_val_id, n.id)
  where t.id <> f.id`

const countOfReferences = `
  (select count(*) from dependencies d join vals f on f.id = d.from_val_id where d.to_val_id = vals.id and f.privacy = 'public')`

const correctDependencies: readonly string[] = [
  `delete from dependencies where not exists (
    select 1 ${imported} and f.id = dependencies.from_val_id and t.id = dependencies.to_val_id)`,
  `insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at)
    select f.id, t.id, t.owner_id, min(c.created_at) ${imported} group by f.id, t.id, t.owner_id
    on conflict (from_val_id, to_val_id) do nothing`,
  `update vals set reference_count = ${countOfReferences} where reference_count <> ${countOfReferences}`,
]

function idempotency({ types: { id, bytes } }: Ddl): readonly string[] {
  return [
    `alter table idempotency_keys add column node_id ${id}`,
    `alter table idempotency_keys add column progress ${bytes}`,
  ]
}
