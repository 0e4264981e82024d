// The flags of kube-apiserver v1.36 for which there is nothing to do here. They are taken, so that a command line made
// for kube-apiserver works, and the user is told that they have no effect.
import type { IgnoredFlags } from '../flags/flags.js'

const WITH_VALUE = `
  admission-control admission-control-config-file advertise-address allow-metric-labels allow-metric-labels-manifest
  api-audiences apiserver-count
  audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst
  audit-log-batch-throttle-qps audit-log-format audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode
  audit-log-path audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version
  audit-policy-file
  audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait
  audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-qps audit-webhook-config-file
  audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-max-batch-size
  audit-webhook-truncate-max-event-size audit-webhook-version
  authentication-config authentication-token-webhook-cache-ttl authentication-token-webhook-config-file
  authentication-token-webhook-version
  authorization-config authorization-policy-file authorization-webhook-cache-authorized-ttl
  authorization-webhook-cache-unauthorized-ttl authorization-webhook-config-file authorization-webhook-version
  cloud-config cloud-provider coordinated-leadership-lease-duration coordinated-leadership-renew-deadline
  coordinated-leadership-retry-period cors-allowed-origins
  debug-socket-path default-not-ready-toleration-seconds default-unreachable-toleration-seconds
  default-watch-cache-size delete-collection-workers disabled-metrics
  egress-selector-config-file emulated-version encryption-provider-config endpoint-reconciler-type
  etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout
  etcd-readycheck-timeout etcd-servers-overrides event-ttl external-hostname
  goaway-chance http2-max-streams-per-connection
  identity-lease-duration-seconds identity-lease-renew-interval-seconds
  kubelet-certificate-authority kubelet-client-certificate kubelet-client-key kubelet-port
  kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout kubernetes-service-node-port
  lease-reuse-duration-seconds livez-grace-period log-flush-frequency log-json-info-buffer-size
  log-text-info-buffer-size logging-format
  max-connection-bytes-per-sec min-compatibility-version
  oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim
  oidc-signing-algs oidc-username-claim oidc-username-prefix
  peer-advertise-ip peer-advertise-port peer-ca-file proxy-client-cert-file proxy-client-key-file
  requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
  requestheader-group-headers requestheader-uid-headers requestheader-username-headers
  service-account-issuer service-account-jwks-uri service-account-key-file service-account-max-token-expiration
  service-account-signing-endpoint service-account-signing-key-file service-node-port-range
  show-hidden-metrics-for-version shutdown-delay-duration shutdown-watch-termination-grace-period storage-backend
  storage-initialization-timeout storage-media-type strict-transport-security-directives
  tls-cipher-suites tls-curve-preferences tls-min-version tls-sni-cert-key tracing-config-file
  v vmodule watch-cache-sizes
`

const SWITCHES = `
  aggregator-reject-forwarding-redirect allow-privileged audit-log-batch-throttle-enable audit-log-compress
  audit-log-truncate-enabled audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled
  contention-profiling disable-http2-serving emulation-forward-compatible enable-aggregator-routing
  enable-bootstrap-token-auth enable-logs-handler enable-priority-and-fairness
  encryption-provider-config-automatic-reload log-json-split-stream log-text-split-stream
  permit-address-sharing permit-port-sharing profiling runtime-config-emulation-forward-compatible
  service-account-extend-token-expiration service-account-lookup shutdown-send-retry-after watch-cache
`

const words = (text: string): string[] => text.trim().split(/\s+/)

export const kubeFlags = (): IgnoredFlags =>
  new Map([
    ...words(WITH_VALUE).map(name => [name, 'value'] as const),
    ...words(SWITCHES).map(name => [name, 'switch'] as const),
  ])

const ADMISSION_PLUGINS = `
  AlwaysAdmit AlwaysDeny AlwaysPullImages CertificateApproval CertificateSigning CertificateSubjectRestriction
  ClusterTrustBundleAttest DefaultIngressClass DefaultStorageClass DefaultTolerationSeconds DenyServiceExternalIPs
  EventRateLimit ExtendedResourceToleration ImagePolicyWebhook LimitPodHardAntiAffinityTopology LimitRanger
  MutatingAdmissionPolicy MutatingAdmissionWebhook NamespaceAutoProvision NamespaceExists NamespaceLifecycle
  NodeDeclaredFeatureValidator NodeRestriction OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize
  PodNodeSelector PodSecurity PodTolerationRestriction PodTopologyLabels Priority ResourceQuota RuntimeClass
  ServiceAccount StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy
  ValidatingAdmissionWebhook
`

/** The names that kube-apiserver knows. */
export const admissionPlugins = (): ReadonlySet<string> => new Set(words(ADMISSION_PLUGINS))
