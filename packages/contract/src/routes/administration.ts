import { route } from "../route.ts"
import {
  acceptInvitationBody,
  account,
  auditEntry,
  auditQuery,
  createInvitationBody,
  createUserTokenBody,
  deleteUserQuery,
  invitation,
  newInvitation,
  node,
  putQuotasBody,
  quotas,
  suspendBody,
} from "../schemas/administration.ts"
import { pageQuery } from "../schemas/inputs.ts"
import { newToken, newUser, page, usage } from "../schemas/records.ts"

/** Administration of users, and of the nodes. */
export const administrationRoutes = {
  getUserAccount: route("Administration", "get /v1/users/{user_id}/account", {
    summary: "A user as an administrator sees them",
    scope: "admin",
    responses: { 200: account },
  }),
  deleteUser: route("Administration", "delete /v1/users/{user_id}", {
    summary:
      "Delete a user. With `data=keep` their vals stay readable and their name stays taken; with `data=delete` all of their data is deleted too",
    scope: "admin",
    query: deleteUserQuery,
    responses: { 204: null },
    errors: ["last_owner", "own_account"],
  }),
  suspendUser: route("Administration", "put /v1/users/{user_id}/suspension", {
    summary:
      "Suspend a user: their tokens and sessions are refused, their vals do not run, and their runs are cancelled",
    scope: "admin",
    body: suspendBody,
    responses: { 204: null },
    errors: ["own_account"],
  }),
  unsuspendUser: route("Administration", "delete /v1/users/{user_id}/suspension", {
    summary: "Lift the suspension of a user; also restores a user who was deleted with `data=keep`",
    scope: "admin",
    responses: { 204: null },
  }),
  createUserToken: route("Administration", "post /v1/users/{user_id}/tokens", {
    summary: "Create a token for a user; only this response ever shows it",
    scope: "admin",
    body: createUserTokenBody,
    responses: { 200: newToken },
    errors: ["scope_escalation"],
  }),
  getUserUsage: route("Administration", "get /v1/users/{user_id}/usage", {
    summary: "A user's usage and limits: runs, outgoing traffic and storage",
    scope: "admin",
    responses: { 200: usage },
  }),
  getUserQuotas: route("Administration", "get /v1/users/{user_id}/quotas", {
    summary: "A user's quotas; null where the server's limit applies",
    scope: "admin",
    responses: { 200: quotas },
  }),
  putUserQuotas: route("Administration", "put /v1/users/{user_id}/quotas", {
    summary: "Set some quotas of a user; null restores the server's limit",
    scope: "admin",
    body: putQuotasBody,
    responses: { 200: quotas },
  }),
  listInvitations: route("Administration", "get /v1/invitations", {
    summary: "Open invitations, newest first",
    scope: "admin",
    query: pageQuery,
    responses: { 200: page(invitation) },
  }),
  createInvitation: route("Administration", "post /v1/invitations", {
    summary: "Create a link that lets one person choose a username and sign in",
    scope: "admin",
    body: createInvitationBody,
    responses: { 200: newInvitation },
    errors: ["too_many_invitations"],
  }),
  revokeInvitation: route("Administration", "delete /v1/invitations/{invitation_id}", {
    summary: "Revoke an open invitation",
    scope: "admin",
    responses: { 204: null },
  }),
  acceptInvitation: route("Administration", "post /v1/invitations/accept", {
    summary: "Accept an invitation; creates the user with a first token",
    auth: "none",
    isCountedByAddress: true,
    body: acceptInvitationBody,
    responses: { 200: newUser },
    errors: ["invitation_not_found", "username_taken", "one_user_only"],
  }),
  listAuditEntries: route("Administration", "get /v1/audit", {
    summary: "The audit log, newest first",
    scope: "admin",
    query: auditQuery,
    responses: { 200: page(auditEntry) },
  }),
  listNodes: route("Administration", "get /v1/nodes", {
    summary: "The nodes of the installation with their load, newest first",
    scope: "admin",
    query: pageQuery,
    responses: { 200: page(node) },
  }),
}
