export {
  countRequests,
  toResponse,
  UpstreamServer,
  type UpstreamSocket,
} from "./upstream-server.ts"
