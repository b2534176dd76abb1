import type { Migration } from "../database/migrate.ts"

/**
 * Browsers that are signed in. A session is a token that lives in a cookie, and a sign-in link one
 * that is used up when it is used. `parent_id` is the token that either came from: revoking it ends
 * them. A node of the version before makes nothing but tokens.
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
