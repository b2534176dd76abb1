import { toBytes, toDuration } from "../../ui/units.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Section } from "../parts/section.tsx"
import type { RunDetail } from "./followed-run.ts"

type Egress = NonNullable<RunDetail["egress"]>

/** The requests that a run sent. */
export function EgressList({ egress }: { egress: Egress }) {
  const { requests, blocked, bytesSent, bytesReceived, list } = egress
  const count = `${requests} sent${blocked > 0 ? `, ${blocked} blocked` : ""}`
  const size = `${toBytes(bytesSent)} out, ${toBytes(bytesReceived)} in`
  return (
    <Section
      title="Outgoing requests"
      end={
        <span class="quiet">
          {count}; {size}
        </span>
      }
    >
      <DataTable
        columns={{
          Request: "",
          Response: "",
          Sent: "only-wide table-number",
          Received: "only-wide table-number",
          Took: "table-number",
        }}
        isScrolling
      >
        {list.map((request, index) => (
          <tr key={index}>
            <td class="table-wide" title={request.url}>
              <strong>{request.method}</strong> {request.url}
              {request.blocked === null ? null : <span class="run-reason">{request.blocked}</span>}
            </td>
            <td>
              {request.blocked === null ? (
                (request.status ?? (request.method === "CONNECT" ? "connected" : "none"))
              ) : (
                <span class="bad">blocked</span>
              )}
            </td>
            <td class="only-wide table-number quiet">{toBytes(request.bytesSent)}</td>
            <td class="only-wide table-number quiet">{toBytes(request.bytesReceived)}</td>
            <td class="table-number quiet">{toDuration(request.durationMs)}</td>
          </tr>
        ))}
      </DataTable>
      {list.length < requests ? (
        <p class="quiet">The first {list.length} of them are shown.</p>
      ) : null}
    </Section>
  )
}
