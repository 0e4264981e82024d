// The kubeconfig of the administrator.
export * from './tls/kubeconfig.js'
export type { KeyPair } from './tls/x509.js'
