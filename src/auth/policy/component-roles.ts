// The cluster roles of components that run beside the server: schedulers, controller managers, proxies, nodes.
import { type NamedRules, parseRoles } from './policy-text.js'

export const componentRoles = (): NamedRules[] =>
  parseRoles(`
  system:auth-delegator
  - authentication.k8s.io | tokenreviews | create
  - authorization.k8s.io | subjectaccessreviews | create

  system:certificates.k8s.io:certificatesigningrequests:nodeclient
  - certificates.k8s.io | certificatesigningrequests/nodeclient | create

  system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  - certificates.k8s.io | certificatesigningrequests/selfnodeclient | create

  system:certificates.k8s.io:kube-apiserver-client-approver
  - certificates.k8s.io | signers | approve | kubernetes.io/kube-apiserver-client

  system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  - certificates.k8s.io | signers | approve | kubernetes.io/kube-apiserver-client-kubelet

  system:certificates.k8s.io:kubelet-serving-approver
  - certificates.k8s.io | signers | approve | kubernetes.io/kubelet-serving

  system:certificates.k8s.io:legacy-unknown-approver
  - certificates.k8s.io | signers | approve | kubernetes.io/legacy-unknown

  system:heapster
  - core | events namespaces nodes pods | read
  - extensions | deployments | read

  system:kube-aggregator
  - core | endpoints services | read

  system:kube-controller-manager
  - events
  - coordination.k8s.io | leases | create
  - coordination.k8s.io | leases | get update | kube-controller-manager
  - core | secrets serviceaccounts | create
  - core | secrets | delete
  - core | configmaps namespaces secrets serviceaccounts | get
  - core | secrets serviceaccounts | update
  - authentication.k8s.io | tokenreviews | create
  - authorization.k8s.io | subjectaccessreviews | create
  - * | * | list watch
  - core | serviceaccounts/token | create

  system:kube-dns
  - core | endpoints services | list watch

  system:kube-scheduler
  - events
  - coordination.k8s.io | leases | create
  - coordination.k8s.io | leases | read update | kube-scheduler
  - coordination.k8s.io | leasecandidates | read write
  - core | nodes | read
  - core | pods | read delete
  - core | bindings pods/binding | create
  - core | pods/status | patch update
  - core | replicationcontrollers services | read
  - apps extensions | replicasets | read
  - apps | statefulsets | read
  - policy | poddisruptionbudgets | read
  - core | persistentvolumeclaims persistentvolumes | read
  - authentication.k8s.io | tokenreviews | create
  - authorization.k8s.io | subjectaccessreviews | create
  - storage.k8s.io | csinodes | read
  - storage.k8s.io | volumeattachments | read
  - core | namespaces | read
  - storage.k8s.io | csidrivers | read
  - storage.k8s.io | csistoragecapacities | read
  - resource.k8s.io | deviceclasses | read
  - resource.k8s.io | resourceclaims | read patch update
  - resource.k8s.io | resourceclaims/status | read patch update
  - core | pods/finalizers | update
  - resource.k8s.io | resourceslices | read
  - resource.k8s.io | resourceclaims | create delete
  - resource.k8s.io | resourceclaims/binding | patch update

  system:kubelet-api-admin
  - core | nodes | read
  - core | nodes | proxy
  - core | nodes/log nodes/metrics nodes/proxy nodes/stats | *
  - core | nodes/configz nodes/healthz nodes/pods | *

  system:node
  - authentication.k8s.io | tokenreviews | create
  - authorization.k8s.io | localsubjectaccessreviews subjectaccessreviews | create
  - core | services | read
  - core | nodes | read create
  - core | nodes/status | patch update
  - core | nodes | patch update
  - events
  - core | pods | read
  - core | pods | create delete
  - core | pods/status | patch update
  - core | pods/eviction | create
  - core | configmaps secrets | read
  - core | persistentvolumeclaims persistentvolumes | get
  - core | endpoints | get
  - certificates.k8s.io | certificatesigningrequests | read create
  - coordination.k8s.io | leases | create delete get patch update
  - storage.k8s.io | volumeattachments | get
  - core | serviceaccounts/token | create
  - core | persistentvolumeclaims/status | get patch update
  - storage.k8s.io | csidrivers | read
  - storage.k8s.io | csinodes | create delete get patch update
  - node.k8s.io | runtimeclasses | read
  - resource.k8s.io | resourceclaims | get
  - resource.k8s.io | resourceslices | deletecollection
  - core | serviceaccounts | get

  system:node-bootstrapper
  - certificates.k8s.io | certificatesigningrequests | read create

  system:node-problem-detector
  - core | nodes | get
  - core | nodes/status | patch
  - events

  system:node-proxier
  - core | endpoints services | list watch
  - core | nodes | read
  - events
  - networking.k8s.io | servicecidrs | list watch
  - discovery.k8s.io | endpointslices | list watch

  system:persistent-volume-provisioner
  - core | persistentvolumes | read create delete
  - core | persistentvolumeclaims | read update
  - storage.k8s.io | storageclasses | read
  - core | events | watch
  - events

  system:volume-scheduler
  - core | persistentvolumes | read patch update
  - storage.k8s.io | storageclasses | read
  - core | persistentvolumeclaims | read patch update
`)
