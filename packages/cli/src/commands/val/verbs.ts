import { privacies } from "@hamlet/contract/lists"
import { CliError } from "../../cli-error.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { findVal, findWholeVal, toFullName, type Val } from "../../names/find-val.ts"
import { forEachOne } from "../../output/for-each-one.ts"
import type { RecordField } from "../../output/output.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"
import { toAgo } from "../../terminal/ago.ts"
import { openInBrowser } from "../../terminal/open-in-browser.ts"
import { toSaved, valColumns, withoutTexts } from "../../vals.ts"

const takesVal = { "<val>": "name of the val" } as const

export const verbs: Verbs = {
  list: defineList({
    summary: "List vals",
    description: "Lists your vals if you name no user, newest first.",
    examples: [
      ["hamlet val list", "your vals"],
      ["hamlet val list ada", "public vals of ada"],
      ["hamlet val list --everybody -n 10", "the ten newest vals of all users"],
      ["hamlet val list --privacy public --json", "your public vals, one JSON object per line"],
    ],
    takes: {
      "[user]": "owner of the vals",
      "-e, --everybody": "public vals of all users, and your own",
      "--privacy <privacy>": { help: "only vals with this privacy", choices: privacies },
      ...listOptions,
    },
    async items({ client, me, output }, { user: username, everybody, privacy }, page) {
      const omit = withoutTexts(output)
      if (everybody) return client.items("listVals", { privacy, ...omit, ...page })
      const { id } = username === undefined ? await me() : await client.getUserByName({ username })
      return client.items("listVals", { userId: id, privacy, ...omit, ...page })
    },
    empty: 'No vals; create one with "hamlet val new"',
    columns: valColumns,
  }),
  new: { summary: "Create a val", load: () => import("./new.ts") },
  show: defineCommand({
    summary: "Show a val",
    description: "On a terminal, also prints the code.",
    examples: [
      ["hamlet val show hello", "show a val"],
      ["hamlet val show ada/hello@3 --code > hello.ts", "save the code of a version"],
      ["hamlet val show http://ada-hello.localhost:8080/", "show the val at this URL"],
    ],
    takes: {
      ...takesVal,
      "-c, --code": "print only the code",
      "-r, --readme": "print only the readme",
    },
    async run({ connect, output }, { val: text, code, readme }) {
      const { val } = await findVal(await connect(), text)
      if (output.mode === "json") return output.json(val)
      if (code) return output.text(val.code)
      if (readme) return output.text(getReadme(val))
      output.record(val, toFields(val))
      if (output.mode === "human")
        output.text(`\n${val.code}${val.code.endsWith("\n") ? "" : "\n"}`)
    },
  }),
  edit: { summary: "Edit a val in your editor", load: () => import("./edit.ts") },
  fmt: { summary: "Format vals or files", load: () => import("./fmt.ts") },
  push: { summary: "Save the folder of a val, or files as vals", load: () => import("./push.ts") },
  pull: { summary: "Download the changes of vals into files", load: () => import("./pull.ts") },
  clone: {
    summary: "Download a val, or all vals of a user, into a folder",
    load: () => import("./clone.ts"),
  },
  watch: { summary: "Keep a folder and your vals in sync", load: () => import("./watch.ts") },
  status: {
    summary: "Show what differs between a folder and its val",
    load: () => import("./status.ts"),
  },
  diff: { summary: "Show the changes of the folder of a val", load: () => import("./diff.ts") },
  rename: defineCall({
    summary: "Rename a val",
    description: "The URLs of the val change too.",
    examples: [["hamlet val rename hello greet", "rename hello to greet"]],
    takes: { ...takesVal, "<name>": "new name" },
    async call(session, { val: text, name }) {
      const { client } = session
      const val = await findWholeVal(session, text)
      await client.updateVal({ val_id: val.id, name })
      const renamed = await client.getVal({ val_id: val.id })
      const plain = toFullName(renamed)
      return { json: renamed, plain, human: `Renamed ${toFullName(val)} to ${plain}` }
    },
  }),
  rm: defineCommand({
    summary: "Delete vals",
    description: "Deletes their versions, likes, comments and runs too. This cannot be undone.",
    examples: [
      ["hamlet val rm hello", "delete a val after confirmation"],
      ["hamlet val rm hello world --yes", "delete two vals without confirmation"],
    ],
    takes: { "<vals...>": "names of the vals", ...confirmOption },
    async run({ connect, output }, { vals, yes }) {
      const connection = await connect()
      return forEachOne(output, vals, async (text) => {
        const val = await findWholeVal(connection, text)
        const name = toFullName(val)
        await confirm(`Delete ${name} with all its versions and runs?`, { yes })
        await connection.client.deleteVal({ val_id: val.id })
        output.print({
          json: { id: val.id, name: val.name, username: val.author.username, deleted: true },
          plain: name,
          human: `Deleted ${name}`,
        })
      })
    },
  }),
  open: defineCommand({
    summary: "Open a val in the browser",
    description: `Opens the endpoint of an HTTP val, or else its page in the web app. Uses $BROWSER, or the system's default
browser. In a pipe or with --print, prints the URL instead.`,
    examples: [
      ["hamlet val open hello", "open its endpoint"],
      ["hamlet val open hello --page", "open its page in the web app"],
      ["curl $(hamlet val open hello)", "pass its URL to another program"],
    ],
    takes: {
      ...takesVal,
      "--page": "open its page even if it has an endpoint",
      "--module": "open the URL to import it from",
      "-p, --print": "print the URL instead of opening it",
    },
    async run({ connect, output, env }, { val: text, page, module, print }) {
      const val = await findWholeVal(await connect(), text)
      const { endpoint = val.url } = val.links
      const url = module ? val.links.module : page ? val.url : endpoint
      if (output.mode !== "human" || print)
        return output.print({ json: { url }, plain: url, human: url })
      output.note(`Opening ${url}`)
      const { program, isOpened } = await openInBrowser(env, url)
      if (!isOpened)
        throw new CliError("failed", `Cannot open ${toFullName(val)}: cannot find "${program}"`, {
          advice: `its URL is ${url}; set BROWSER to choose a browser`,
        })
    },
  }),
  preview: defineCall({
    summary: "Create a preview URL for a val",
    description: `The preview URL of a private val grants access to that val to anyone who has the URL, for one hour. The URL
of other vals does not expire. The val must be of type http.`,
    examples: [
      ["hamlet val preview hello", "create a preview URL"],
      ["curl $(hamlet val preview hello)", "call a private val"],
    ],
    takes: takesVal,
    async call(session, { val }) {
      const { id } = await findWholeVal(session, val)
      const preview = await session.client.createPreview({ val_id: id })
      const { url, expiresAt } = preview
      const note =
        expiresAt === null ? undefined : `Anyone with this URL can open the val until ${expiresAt}`
      return { json: preview, plain: url, note }
    },
  }),
  search: defineList({
    summary: "Search vals by name, code or readme",
    description: "Searches names, descriptions and files for the exact text, ignoring case.",
    examples: [
      ["hamlet val search 'new Response('", "search public vals and all of yours"],
      ["hamlet val search rss --json", "print vals with their code, one JSON object per line"],
    ],
    takes: { "<text...>": "text to search for", ...listOptions },
    items: ({ client, output }, { text }, page) =>
      client.items("searchVals", { query: text.join(" "), ...withoutTexts(output), ...page }),
    empty: "No matching vals",
    columns: valColumns,
  }),
  fork: defineCall({
    summary: "Copy a val",
    description: `Copies the code, readme and type of a val that you can see. The copy imports the same vals and packages.
It is private, and has the same name or one with a number, unless options say otherwise.`,
    examples: [
      ["hamlet val fork ada/hello", "copy the current version of a val"],
      ["hamlet val fork ada/hello@3 --name mine --privacy public", "copy an old version"],
    ],
    takes: {
      ...takesVal,
      "--name <name>": "name of the copy",
      "--privacy <privacy>": { help: "who can see the copy", choices: privacies },
    },
    async call(session, { val: text, name, privacy }) {
      const { val, version } = await findVal(session, text)
      const fork = await session.client.forkVal({ val_id: val.id, version, name, privacy })
      return toSaved(fork, `Forked ${toFullName(val)} as`)
    },
  }),
  forks: defineList({
    summary: "List the forks of a val",
    description: "Lists public forks and your own, newest first.",
    examples: [["hamlet val forks ada/hello", "list the forks of a val"]],
    takes: { ...takesVal, ...listOptions },
    async items(session, { val }, page) {
      const { id } = await findWholeVal(session, val)
      const query = { val_id: id, ...withoutTexts(session.output), ...page }
      return session.client.items("listForks", query)
    },
    empty: "No forks",
    columns: valColumns,
  }),
  comments: defineList({
    summary: "List the comments on a val",
    description:
      "Newest comments first. Truncated to the width of the terminal; --json prints them in full.",
    examples: [
      ["hamlet val comments ada/hello", "list the comments on a val"],
      ["hamlet val comments hello --all --json", "print all comments in full"],
    ],
    takes: { ...takesVal, ...listOptions },
    async items(session, { val }, page) {
      const { id } = await findWholeVal(session, val)
      return session.client.items("listComments", { val_id: id, ...page })
    },
    empty: 'No comments; write one with "hamlet val comment"',
    columns: [
      { title: "id", value: ({ id }) => id, isWhole: true },
      {
        title: "author",
        value: ({ author }) => author?.username ?? null,
        paint: (colour) => colour.bold,
      },
      { title: "written", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "comment", value: ({ comment }) => comment },
    ],
  }),
  comment: { summary: "Comment on a val", load: () => import("./comment.ts") },
  like: defineCall({
    summary: "Like a val",
    examples: [
      ["hamlet val like ada/hello", "like a val"],
      ["hamlet val like ada/hello --undo", "remove your like"],
    ],
    takes: { ...takesVal, "--undo": "remove your like" },
    async call(session, { val: text, undo }) {
      const { client } = session
      const { id } = await findWholeVal(session, text)
      await (undo ? client.unlikeVal({ val_id: id }) : client.likeVal({ val_id: id }))
      const val = await client.getVal({ val_id: id })
      const name = toFullName(val)
      return { json: val, plain: name, human: `You ${undo ? "no longer like" : "like"} ${name}` }
    },
  }),
}

function getReadme(val: Val): string {
  if (val.readme === null)
    throw new CliError("notFound", `Cannot show the readme of ${toFullName(val)}: it has none`)
  return val.readme
}

function toFields(val: Val): readonly RecordField[] {
  const now = Date.now()
  return [
    ["val", toFullName(val)],
    ["version", val.version],
    ["type", val.type],
    ["privacy", val.privacy],
    ["likes", val.likeCount],
    ["references", val.referenceCount],
    ["forks", val.forkCount],
    ["fork of", val.forkedFrom && `${toFullName(val.forkedFrom)}@${val.forkedFrom.version}`],
    ["created", val.createdAt, toAgo(val.createdAt, now)],
    ["updated", val.updatedAt, toAgo(val.updatedAt, now)],
    ["ran", val.runStartAt, val.runStartAt === null ? "" : toAgo(val.runStartAt, now)],
    ["page", val.url],
    ["module", val.links.module],
    ["endpoint", val.links.endpoint ?? null],
    ["id", val.id],
  ]
}
