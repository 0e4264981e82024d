// The flags of kube-apiserver v1.36 that are not carried out, in two classes. Harmless ones are accepted with a warning,
// so that a command line written for kube-apiserver works. A flag is refused if a server that ignored it would be less
// secure, lose data or serve something else than its user asked for.
import type { FlagTable } from './flag.js'

export interface OtherFlag {
  /** A switch may stand without a value. */
  readonly isSwitch: boolean
  /** Why the flag is refused; absent for a flag that is accepted without effect. */
  readonly refusal?: string | undefined
}

/** `carriedOut` are the flags that this server has itself. */
export function otherKubeFlags(carriedOut: FlagTable): ReadonlyMap<string, OtherFlag> {
  const flags = new Map<string, OtherFlag>()
  const add = (names: string, refusal?: string): void => {
    for (const name of words(names)) {
      if (!Object.hasOwn(carriedOut, name)) flags.set(name, { isSwitch: SWITCHES.has(name), refusal })
    }
  }
  add(HARMLESS)
  add(HARMLESS_OLD)
  for (const [reason, names] of Object.entries(REFUSED)) add(names, reason)
  return flags
}

const words = (text: string): string[] => text.trim().split(/\s+/)

const HARMLESS = `
  allow-metric-labels-manifest
  audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst
  audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress
  contention-profiling cors-allowed-origins
  debug-socket-path default-not-ready-toleration-seconds default-unreachable-toleration-seconds
  delete-collection-workers
  enable-logs-handler
  etcd-count-metric-poll-period etcd-db-metric-poll-interval
  etcd-healthcheck-timeout etcd-readycheck-timeout
  goaway-chance
  kubelet-certificate-authority kubelet-client-certificate kubelet-client-key kubelet-preferred-address-types
  kubelet-timeout kubernetes-service-node-port
  lease-reuse-duration-seconds livez-grace-period log-flush-frequency log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream
  max-connection-bytes-per-sec
  peer-advertise-ip peer-advertise-port peer-ca-file permit-address-sharing permit-port-sharing profiling
  service-account-lookup
  show-hidden-metrics-for-version shutdown-send-retry-after shutdown-watch-termination-grace-period storage-backend
  storage-initialization-timeout
  vmodule watch-cache-sizes
`

/** Flags of earlier versions, which scripts still pass. */
const HARMLESS_OLD = `
  cloud-config cloud-provider default-watch-cache-size identity-lease-duration-seconds
  identity-lease-renew-interval-seconds kubelet-port kubelet-read-only-port
`

/** By the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  'it is deprecated; use --enable-admission-plugins and --disable-admission-plugins': 'admission-control',
}

const SWITCHES = new Set(
  words(`
    allow-privileged audit-log-batch-throttle-enable audit-log-compress
    audit-log-truncate-enabled audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled
    contention-profiling enable-logs-handler
    log-json-split-stream log-text-split-stream permit-address-sharing permit-port-sharing profiling
    service-account-lookup
    shutdown-send-retry-after
  `),
)
