import type { StorageClient } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { QueryBox } from "./query-box.tsx"
import { useStorage, useStorageModule } from "./storage.ts"
import { TableRows } from "./table-rows.tsx"

interface TableEntry {
  readonly name: string
  readonly type: string
  readonly sql: string
}

/** Without the table in which the server records idempotent requests. */
const listTables = `select name, type, sql from sqlite_schema
  where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'
    and name <> '_hamlet_requests' order by name`

/** The tables of a database, the rows of one of them, and a box for queries. */
export function Tables() {
  const storage = useStorage()
  const changes = useSignal(0)
  const tables = useResource("tables", (signal) => loadTables(storage, signal))
  const chosen = currentLocation.value.query.get("table")
  return (
    <div class="tables">
      <nav class="tables-list" aria-label="Tables">
        <Loaded of={tables} skeleton={<Bars count={5} />}>
          {(entries) =>
            entries.length === 0 ? <NoTables /> : <List entries={entries} chosen={chosen} />
          }
        </Loaded>
      </nav>
      <div class="tables-main">
        <QueryBox
          onDone={() => {
            tables.reload()
            changes.value += 1
          }}
        />
        {chosen === null ? null : (
          <TableRows
            key={chosen}
            table={chosen}
            revision={changes.value}
            sql={findSql(tables.state, chosen)}
          />
        )}
      </div>
    </div>
  )
}

async function loadTables(
  storage: StorageClient,
  signal: AbortSignal,
): Promise<readonly TableEntry[]> {
  const { rows } = await storage.executeSql({ statement: listTables }, { signal })
  return rows.map(([name, type, sql]) => ({
    name: String(name),
    type: String(type),
    sql: String(sql ?? ""),
  }))
}

function findSql(
  state: { readonly kind: string; readonly data?: readonly TableEntry[] },
  table: string,
): string | undefined {
  return state.data?.find(({ name }) => name === table)?.sql
}

function List(props: { readonly entries: readonly TableEntry[]; readonly chosen: string | null }) {
  return (
    <ul>
      {props.entries.map(({ name, type }) => (
        <li key={name}>
          <button
            type="button"
            class="row pick tables-entry"
            aria-current={name === props.chosen}
            onClick={() => setQuery({ table: name })}
          >
            <Icon name="table" />
            <span class="breaks">{name}</span>
            {type === "view" ? <span class="quiet">view</span> : null}
          </button>
        </li>
      ))}
    </ul>
  )
}

function NoTables() {
  return (
    <p class="quiet">
      No tables yet. A val creates them with <code>sqlite.execute</code> of{" "}
      <code>{useStorageModule("sqlite")}</code>, and so does the box beside.
    </p>
  )
}
