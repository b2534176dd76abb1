# workerd serve --experimental: every path is the id of a worker of its own.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "vals", worker = .vals)],
  # Any free port; workerd says which on the control descriptor.
  sockets = [(name = "http", address = "127.0.0.1:0", service = "vals")],
);

const vals :Workerd.Worker = (
  compatibilityDate = "2026-10-01",
  modules = [(name = "worker-loader.js", esModule = embed "worker-loader.js")],
  bindings = [(name = "loader", workerLoader = ())],
);
