// The version of Kubernetes whose API this server has.

export const KUBERNETES_MAJOR = '1'
export const KUBERNETES_MINOR = '36'

/** Clients ignore the part after the plus sign when they compare versions. */
export const KUBERNETES_VERSION = `v${KUBERNETES_MAJOR}.${KUBERNETES_MINOR}.4+binnacle`
