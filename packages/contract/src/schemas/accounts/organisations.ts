import { z } from "zod"
import { limits } from "../../limits.ts"
import { roles } from "../../lists.ts"
import { id, moment, text, time, url, username } from "../fields.ts"
import { email } from "../lengths.ts"
import { user } from "../records.ts"

/** What a person is in an organisation. */
export const role = z
  .enum(roles)
  .describe(
    "`owner`: manages the organisation; `member`: changes its vals; `viewer`: sees its private vals",
  )

const member = z.object({
  id: id.describe("The id of the person"),
  username: username.describe("The name of the person, without `@`"),
})

/** An organisation that the caller belongs to. */
export const ownOrganisation = z
  .object({
    id: id.describe("The id of the organisation"),
    username: username.describe("The name of the organisation, without `@`"),
    role,
    members: z.int().min(0).describe("How many people belong to it"),
  })
  .meta({ id: "OwnOrganisation" })

/** An organisation, as a member sees it. */
export const organisation = user
  .extend({
    type: z.literal("org").describe("Always `org`"),
    role,
    members: z.int().min(0).describe("How many people belong to it"),
  })
  .meta({ id: "Organisation" })

/** A person in an organisation. */
export const orgMember = z
  .object({
    user: member.describe("The person"),
    role,
    createdAt: time,
    pending: z.boolean().describe("Whether the person has not accepted yet"),
  })
  .meta({ id: "OrgMember" })

/** An organisation that the caller belongs to, or is invited to. */
export const ownMembership = z
  .object({
    org: z
      .object({
        id: id.describe("The id of the organisation"),
        username: username.describe("The name of the organisation, without `@`"),
      })
      .describe("The organisation"),
    role,
    createdAt: time,
    pending: z.boolean().describe("Whether the caller has not accepted yet"),
  })
  .meta({ id: "OwnMembership" })

/** An open invitation into an organisation. */
export const orgInvitation = z
  .object({
    id: id.describe("The id of the invitation"),
    role,
    email: z
      .string()
      .nullable()
      .describe("The only confirmed address that may accept; null for any"),
    createdBy: z.string().nullable().describe("Who has invited; null if that account was deleted"),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: "OrgInvitation" })

/** A new invitation into an organisation, with its link. */
export const newOrgInvitation = orgInvitation
  .extend({ url: url.describe("The link; only this response contains it") })
  .meta({ id: "NewOrgInvitation" })

const bio = text(limits.bioCharsMax).nullable().describe("What the organisation says about itself")

/** The body of a new organisation. */
export const createOrgBody = z.object({
  username: username.describe("Its name, which no user or organisation has, without `@`"),
  bio: bio.optional(),
})

/** The body of a change of an organisation. */
export const updateOrgBody = z.object({ bio })

/** The body of the deletion of an organisation. */
export const deleteOrgBody = z.object({
  confirm: text(limits.usernameCharsMax).describe("The name of the organisation"),
})

/** The body of a new member, or of another role. */
export const putMemberBody = z.object({ role })

/** The body of an invitation into an organisation. */
export const createOrgInvitationBody = z.object({
  role,
  email: email(limits.emailCharsMax)
    .nullable()
    .describe("The only confirmed address that may accept")
    .optional(),
  expiresAt: moment.nullable().describe("When it ends; by default after three days").optional(),
})

/** The body to join an organisation by an invitation. */
export const joinOrgBody = z.object({
  code: text(limits.tokenCharsMax, 1).describe("The code after `#code=` in the link"),
})
