import { toBytes } from "../parts/bytes.ts"
import { toDuration } from "../parts/time.ts"
import type { RunDetail } from "./followed-run.ts"

type Egress = NonNullable<RunDetail["egress"]>

/** The requests that a run sent out. */
export function EgressList({ egress }: { egress: Egress }) {
  const { requests, blocked, bytesSent, bytesReceived, list } = egress
  return (
    <section class="section" aria-labelledby="egress">
      <div class="section-head">
        <h2 id="egress">Outgoing requests</h2>
        <span class="quiet">
          {requests} sent{blocked > 0 ? `, ${blocked} blocked` : ""}; {toBytes(bytesSent)} out,{" "}
          {toBytes(bytesReceived)} in
        </span>
      </div>
      <div class="card table-scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Request</th>
              <th>Answer</th>
              <th class="only-wide table-number">Sent</th>
              <th class="only-wide table-number">Received</th>
              <th class="table-number">Took</th>
            </tr>
          </thead>
          <tbody>
            {list.map((request, index) => (
              <tr key={index}>
                <td class="table-wide" title={request.url}>
                  <strong>{request.method}</strong> {request.url}
                  {request.blocked === null ? null : (
                    <span class="run-reason">{request.blocked}</span>
                  )}
                </td>
                <td>
                  {request.blocked === null ? (
                    (request.status ?? "none")
                  ) : (
                    <span class="bad">blocked</span>
                  )}
                </td>
                <td class="only-wide table-number quiet">{toBytes(request.bytesSent)}</td>
                <td class="only-wide table-number quiet">{toBytes(request.bytesReceived)}</td>
                <td class="table-number quiet">{toDuration(request.durationMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {list.length < requests ? (
        <p class="quiet">The first {list.length} of them are shown.</p>
      ) : null}
    </section>
  )
}
