// The kubeconfig of the administrator.
export * from './tls/kubeconfig.js'
