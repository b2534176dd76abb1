import { allScopes } from "../../packages/server/src/domain/accounts/tokens.ts"
import { foldBody, foldText } from "../../packages/server/src/storage/search/fold-text.ts"
import { makeReadme, makeSentence } from "./code.ts"
import {
  comments,
  dependencies,
  famousImport,
  famousSlots,
  famousUser,
  likes,
  privacyOf,
  runs,
  versionsOf,
} from "./pattern.ts"
import { makeId, scramble } from "./random.ts"
import { toRunRow } from "./run-row.ts"
import type { SeededTable } from "./seeded-table.ts"
import { codeOf, valTables } from "./val-tables.ts"
import {
  eventAt,
  tokenText,
  userCreatedAt,
  username,
  valName,
  valNumber,
  type World,
} from "./world.ts"

const tokensPerUser = 3
const secretsPerUser = 3

/** Every table that is filled, in an order in which a row comes after the rows it refers to. */
export function tablesOf(world: World): readonly SeededTable[] {
  return [
    users(world),
    tokens(world),
    secrets(world),
    ...valTables(world),
    ...links(world),
    likesTable(world),
    commentsTable(world),
    runsTable(world),
    searchTexts(world),
  ]
}

function users({ users: count, userIds }: World): SeededTable {
  return {
    name: "users",
    columns: ["id", "username", "username_key", "email", "created_at"],
    count,
    row: (user) => [
      userIds[user] ?? "",
      username(user),
      username(user),
      `${username(user)}@example.com`,
      userCreatedAt(user),
    ],
  }
}

function tokens({ users: count, userIds }: World): SeededTable {
  return {
    name: "tokens",
    columns: ["id", "user_id", "hash", "name", "scopes", "created_at"],
    count: count * tokensPerUser,
    row(index) {
      const [user, place] = [index % count, Math.floor(index / count)]
      const text = place === 0 ? tokenText(user) : `${tokenText(user)}-${place}`
      const at = userCreatedAt(user) + place
      return [
        makeId(31, index, at),
        userIds[user] ?? "",
        sha256(text),
        `token ${place}`,
        allScopes.join(" "),
        at,
      ]
    },
  }
}

function secrets({ users: count, userIds }: World): SeededTable {
  return {
    name: "secrets",
    columns: ["user_id", "name", "key_id", "sealed", "created_at", "updated_at"],
    count: count * secretsPerUser,
    row(index) {
      const [user, place] = [index % count, Math.floor(index / count)]
      const at = userCreatedAt(user)
      return [userIds[user] ?? "", `SECRET_${place}`, "seeded", sha256(`sealed ${index}`), at, at]
    },
  }
}

function sha256(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest()
}

function links(world: World): readonly SeededTable[] {
  const perUser = dependencies.length + 1
  const ends = (index: number) => {
    const user = index % world.users
    const dependency = dependencies[Math.floor(index / world.users)]
    const from = (dependency?.from ?? famousImport.from) * world.users + user
    return {
      from,
      to: dependency
        ? valNumber(world, user, dependency.to)
        : famousImport.to * world.users + famousUser,
    }
  }
  const count = perUser * world.users
  return [
    {
      name: "imports",
      columns: ["branch_id", "path", "since", "username_key", "name_key"],
      count,
      row(index) {
        const { from, to } = ends(index)
        const version = versionsOf(Math.floor(from / world.users))
        return [
          world.valIds[from] ?? "",
          "main.tsx",
          version,
          username(to % world.users),
          valName(world, to).toLowerCase(),
        ]
      },
    },
    {
      name: "dependencies",
      columns: ["from_val_id", "to_val_id", "to_owner_id", "created_at"],
      count,
      row(index) {
        const { from, to } = ends(index)
        const at = eventAt(world, index % world.users, Math.floor(index / world.users), perUser)
        return [
          world.valIds[from] ?? "",
          world.valIds[to] ?? "",
          world.userIds[to % world.users] ?? "",
          at,
        ]
      },
    },
  ]
}

function likesTable(world: World): SeededTable {
  const perUser = likes.length + famousSlots.length
  return {
    name: "likes",
    columns: ["user_id", "val_id", "created_at"],
    count: perUser * world.users,
    row(index) {
      const [user, place] = [index % world.users, Math.floor(index / world.users)]
      const tie = likes[place]
      const val = tie
        ? valNumber(world, user, tie)
        : (famousSlots[place - likes.length] ?? 0) * world.users + famousUser
      return [
        world.userIds[user] ?? "",
        world.valIds[val] ?? "",
        eventAt(world, user, place, perUser),
      ]
    },
  }
}

function commentsTable(world: World): SeededTable {
  return {
    name: "comments",
    columns: ["id", "val_id", "val_owner_id", "author_id", "comment", "created_at"],
    count: comments.length * world.users,
    row(index) {
      const [user, place] = [index % world.users, Math.floor(index / world.users)]
      const val = valNumber(world, user, comments[place] ?? { slot: 0, step: 0 })
      const at = eventAt(world, user, place, comments.length)
      const text = makeSentence(index, 5 + (scramble(33, index) % 20))
      return [
        makeId(32, index, at),
        world.valIds[val] ?? "",
        world.userIds[val % world.users] ?? "",
        world.userIds[user] ?? "",
        text,
        at,
      ]
    },
  }
}

function runsTable(world: World): SeededTable {
  return {
    name: "runs",
    columns:
      "id val_id version account_id owner_id source status started_at ended_at error request args return_value logs".split(
        " ",
      ),
    count: runs.length * world.users,
    row(index) {
      const [user, place] = [index % world.users, Math.floor(index / world.users)]
      const { slot, step } = runs[place] ?? { slot: 0, step: 0 }
      return toRunRow(index, {
        valId: world.valIds[slot * world.users + user] ?? "",
        version: versionsOf(slot),
        accountId: world.userIds[(user + step) % world.users] ?? "",
        ownerId: world.userIds[user] ?? "",
        place,
        isByOther: step > 0,
        at: eventAt(world, user, place, runs.length),
      })
    },
  }
}

function searchTexts(world: World): SeededTable {
  return {
    name: "search_texts",
    columns: ["val_id", "is_public", "name", "body"],
    count: world.vals,
    row(val) {
      const slot = Math.floor(val / world.users)
      const body = foldBody({ code: codeOf(world, val, versionsOf(slot)), readme: makeReadme(val) })
      return [
        world.valIds[val] ?? "",
        privacyOf(slot) === "public" ? 1 : 0,
        foldText(valName(world, val)),
        body,
      ]
    },
  }
}
