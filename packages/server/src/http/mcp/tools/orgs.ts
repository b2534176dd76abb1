import { role } from "@hamlet/contract"
import { z } from "zod"
import { defineTool } from "../tool.ts"

const listOrgs = defineTool({
  name: "list_orgs",
  title: "List organisations",
  description:
    "Lists for whom you can act: the user, and the organisations that the user belongs to. Pass a username as owner to any tool; without it you act for the user.",
  scopes: ["user:read"],
  effect: "read",
  input: z.object({}),
  output: z.object({
    owners: z.array(
      z.object({ username: z.string(), type: z.enum(["user", "org"]), role: role.optional() }),
    ),
  }),
  async run({ client }) {
    const me = await client.getMe()
    const person = { username: me.actor?.username ?? me.username, type: "user" as const }
    const orgs: { username: string; type: "org"; role: z.infer<typeof role> }[] = []
    for await (const org of client.items("listOrganisations", { limit: 100 }))
      orgs.push({ username: org.username, type: "org", role: org.role })
    return { data: { owners: [person, ...orgs] } }
  },
})

/** Tools about organisations. */
export const orgTools = [listOrgs]
