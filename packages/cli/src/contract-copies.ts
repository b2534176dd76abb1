import type { Input } from "@hamlet/contract/client"

/**
 * What the audit log names. The list of the contract comes with everything that checks input, which
 * takes longer to read than most commands do.
 */
export const auditActions: readonly NonNullable<Input<"listAuditEntries">["action"]>[] = [
  "user.create",
  "user.suspend",
  "user.unsuspend",
  "user.delete",
  "user.delete_with_data",
  "user.set_quotas",
  "token.create",
  "invitation.create",
  "invitation.revoke",
  "invitation.accept",
  "backup.read",
  "key.rotate",
]
