import type { Migration } from "@hamlet/database"

/** Makes others wait behind a lock for no more than a tenth of a second. */
const addColumns = (reference: string) => `do $$ begin
  loop
    begin
      perform set_config('lock_timeout', '100ms', true);
      alter table users add column if not exists kind text collate "C" not null default 'user';
      alter table tokens add column if not exists owner_id ${reference};
      alter table invitations add column if not exists org_id ${reference}, add column if not exists role text collate "C";
      exit;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.2 + 0.3 * random());
    end;
  end loop;
end $$`

/**
 * Organisations: users of the kind `org`, to which people belong with a role. A membership without
 * `accepted_at` waits for the consent of its user. A token with an `owner_id` acts for that
 * organisation only, and an invitation with an `org_id` leads into it.
 */
export const organisations: Migration = {
  version: 45,
  name: "organisations",
  worksWith: 40,
  statements: ({ types: { id, text, time }, tableOptions, choose }) => {
    const reference = `${id} references users on delete cascade`
    return [
      ...choose({
        sqlite: [
          `alter table users add column kind ${text} not null default 'user'`,
          `alter table tokens add column owner_id ${reference}`,
          `alter table invitations add column org_id ${reference}`,
          `alter table invitations add column role ${text}`,
        ],
        postgres: [addColumns(reference)],
      }),
      `create table memberships (
        org_id ${id} not null references users on delete cascade,
        user_id ${id} not null references users on delete cascade,
        role ${text} not null check (role in ('owner', 'member', 'viewer')),
        created_at ${time} not null,
        accepted_at ${time},
        primary key (org_id, user_id)
      ) ${tableOptions}`,
      "create index memberships_by_user on memberships (user_id, org_id)",
      "create index tokens_by_owner on tokens (owner_id)",
      "create index invitations_by_org on invitations (org_id, id)",
    ]
  },
}
