import { roles } from "@hamlet/contract/lists"
import type { Verbs } from "../../command.ts"
import type { Connection } from "../../servers/connection.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"

type FindOrg = (connection: Pick<Connection, "client">, text: string) => Promise<string>

const takesMember = {
  "<org>": "name or id of the organisation",
  "<user>": "username",
} as const

/** The verbs about the people in an organisation. */
export function members(findOrg: FindOrg): Verbs {
  return {
    members: defineList({
      summary: "List the people in an organisation",
      examples: [["hamlet org members acme", "people with their roles"]],
      takes: { "<org>": "name or id of the organisation", ...listOptions },
      items: async (session, { org }, page) =>
        session.client.items("listOrgMembers", { org_id: await findOrg(session, org), ...page }),
      empty: "No members",
      columns: [
        { title: "user", value: ({ user }) => user.username, paint: (colour) => colour.bold },
        { title: "role", value: ({ role }) => role },
        { title: "state", value: ({ pending }) => (pending ? "invited" : "member") },
        { title: "since", value: ({ createdAt }) => createdAt, isTime: true },
        { title: "id", value: ({ user }) => user.id, isWhole: true },
      ],
    }),
    add: defineCall({
      summary: "Invite a user, or change the role of a member",
      description: "A user belongs to the organisation once they have accepted.",
      examples: [
        ["hamlet org add acme grace --role member", "invite a user"],
        ["hamlet org add acme grace --role viewer", "change the role of a member"],
      ],
      takes: {
        ...takesMember,
        "-r, --role <role>": { help: "role of the person", choices: roles, isMandatory: true },
      },
      async call(session, { org, user, role }) {
        const ids = await findMember(session, findOrg, org, user)
        const member = await session.client.putOrgMember({ ...ids, role })
        const state = member.pending ? "is invited as" : "is now"
        return {
          json: member,
          plain: member.role,
          human: `${member.user.username} ${state} ${member.role}`,
        }
      },
    }),
    remove: defineCall({
      summary: "Remove a member, or leave an organisation",
      description: "Takes effect at once everywhere. What the member has made stays.",
      examples: [["hamlet org remove acme grace", "remove a member"]],
      takes: { ...takesMember, ...confirmOption },
      async call(session, { org, user, yes }) {
        const ids = await findMember(session, findOrg, org, user)
        await confirm(`Remove ${user} from ${org}?`, { yes })
        await session.client.removeOrgMember(ids)
        return { json: { ...ids, removed: true }, plain: user, human: `Removed ${user}` }
      },
    }),
  }
}

async function findMember(
  { client }: Pick<Connection, "client">,
  findOrg: FindOrg,
  org: string,
  user: string,
): Promise<{ readonly org_id: string; readonly user_id: string }> {
  const org_id = await findOrg({ client }, org)
  const { id } = await client.getUserByName({ username: user.replace(/^@/, "") })
  return { org_id, user_id: id }
}
