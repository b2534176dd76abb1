import { route } from "../../route.ts"
import {
  connectionToken,
  googleDocsTokenBody,
  slackTokenBody,
} from "../../schemas/accounts/connections.ts"

/** Connections of accounts to other services. This server has none, and says so. */
export const connectionRoutes = {
  createSlackToken: route("Connections", "post /v3/connections/slack/token", {
    summary: "A token of a Slack workspace that the caller has connected",
    scope: "user:read",
    body: slackTokenBody,
    responses: { 200: connectionToken },
    errors: ["connection_not_found"],
  }),
  createGoogleDocsToken: route("Connections", "post /v3/connections/google-docs/token", {
    summary: "A token of a Google account that the caller has connected",
    scope: "user:read",
    body: googleDocsTokenBody,
    responses: { 200: connectionToken },
    errors: ["connection_not_found"],
  }),
}
