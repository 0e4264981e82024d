// The roles of the namespaces kube-system and kube-public, for components that elect a leader or read configuration.
import { type NamedRules, parseRoles } from './policy-text.js'

export const namespaceRoles = (): Readonly<Record<string, NamedRules[]>> => ({
  'kube-public': parseRoles(`
  system:controller:bootstrap-signer
  - core | configmaps | read
  - core | configmaps | update | cluster-info
  - events
`),
  'kube-system': parseRoles(`
  extension-apiserver-authentication-reader
  - core | configmaps | read | extension-apiserver-authentication

  system::leader-locking-kube-controller-manager
  - coordination.k8s.io | leases | read create update
  - coordination.k8s.io | leasecandidates | read create update

  system::leader-locking-kube-scheduler
  - coordination.k8s.io | leases | read create update
  - coordination.k8s.io | leasecandidates | read create update

  system:controller:bootstrap-signer
  - core | secrets | read

  system:controller:cloud-provider
  - core | configmaps | read create

  system:controller:token-cleaner
  - core | secrets | read delete
  - events
`),
})
