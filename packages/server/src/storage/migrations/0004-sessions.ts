import type { Migration } from "../database/migrate.ts"

/**
 * Signed-in browsers. A session is a token in a cookie, and a sign-in link is a token that can be
 * used once. `parent_id` is the token that either was created with: revoking it ends them. A node of
 * the previous version creates tokens only.
 */
export const sessions: Migration = {
  version: 4,
  name: "sessions",
  statements: ({ types: { id, text } }) => [
    `alter table tokens add column kind ${text} not null default 'token' check (kind in ('token', 'session', 'link'))`,
    `alter table tokens add column parent_id ${id} references tokens on delete cascade`,
    `alter table tokens add column user_agent ${text}`,
    "create index tokens_by_parent on tokens (parent_id)",
    "drop index tokens_by_user",
    "create index tokens_by_user on tokens (user_id, kind, created_at desc, id desc)",
  ],
}
