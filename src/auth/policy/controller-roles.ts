// The cluster roles of the controllers of kube-controller-manager, each of which runs as a ServiceAccount of its own.
import { type NamedRules, parseRoles } from './policy-text.js'

export const controllerRoles = (): NamedRules[] =>
  parseRoles(`
  system:controller:attachdetach-controller
  - core | persistentvolumeclaims persistentvolumes | list watch
  - core | nodes | read
  - core | nodes/status | patch update
  - core | pods | list watch
  - events
  - storage.k8s.io | volumeattachments | read create delete
  - storage.k8s.io | csidrivers | read
  - storage.k8s.io | csinodes | read

  system:controller:certificate-controller
  - certificates.k8s.io | certificatesigningrequests | read delete
  - certificates.k8s.io | certificatesigningrequests/approval certificatesigningrequests/status | update
  - certificates.k8s.io | signers | approve | kubernetes.io/kube-apiserver-client-kubelet
  - certificates.k8s.io | signers | sign | kubernetes.io/kube-apiserver-client
      kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown
  - authorization.k8s.io | subjectaccessreviews | create
  - events

  system:controller:clusterrole-aggregation-controller
  - rbac.authorization.k8s.io | clusterroles | read escalate patch update

  system:controller:cronjob-controller
  - batch | cronjobs | read update
  - batch | jobs | read create delete patch update
  - batch | cronjobs/status | update
  - batch | cronjobs/finalizers | update
  - core | pods | delete list watch
  - events

  system:controller:daemon-set-controller
  - apps extensions | daemonsets | read
  - apps extensions | daemonsets/status | update
  - apps extensions | daemonsets/finalizers | update
  - core | nodes | list watch
  - core | pods | create delete list patch watch
  - core | pods/binding | create
  - apps | controllerrevisions | read create delete patch update
  - events

  system:controller:deployment-controller
  - apps extensions | deployments | read update
  - apps extensions | deployments/status | update
  - apps extensions | deployments/finalizers | update
  - apps extensions | replicasets | read create delete patch update
  - core | pods | read update
  - events

  system:controller:device-taint-eviction-controller
  - core | pods | read delete
  - core | pods/status | patch update
  - resource.k8s.io | resourceclaims | read
  - resource.k8s.io | resourceslices | read
  - resource.k8s.io | deviceclasses | read
  - events

  system:controller:disruption-controller
  - apps extensions | deployments | read
  - apps extensions | replicasets | read
  - core | replicationcontrollers | read
  - policy | poddisruptionbudgets | read
  - apps | statefulsets | read
  - policy | poddisruptionbudgets/status | update
  - core | pods/status | patch update
  - * | */scale | get
  - events

  system:controller:endpoint-controller
  - core | pods services | read
  - core | endpoints | read create delete update
  - core | endpoints/restricted | create
  - events

  system:controller:endpointslice-controller
  - core | nodes pods services | read
  - core | services/finalizers | update
  - discovery.k8s.io | endpointslices | read create delete update
  - events

  system:controller:endpointslicemirroring-controller
  - core | endpoints services | read
  - core | services/finalizers | update
  - core | endpoints/finalizers | update
  - discovery.k8s.io | endpointslices | read create delete update
  - events

  system:controller:ephemeral-volume-controller
  - core | pods | read
  - core | pods/finalizers | update
  - core | persistentvolumeclaims | read create
  - events

  system:controller:expand-controller
  - core | persistentvolumes | read patch update
  - core | persistentvolumeclaims/status | patch update
  - core | persistentvolumeclaims | read
  - events

  system:controller:generic-garbage-collector
  - * | * | read delete patch update
  - events

  system:controller:horizontal-pod-autoscaler
  - autoscaling | horizontalpodautoscalers | read
  - autoscaling | horizontalpodautoscalers/status | update
  - * | */scale | get update
  - core | pods | list watch
  - metrics.k8s.io | pods | list watch
  - custom.metrics.k8s.io | * | read
  - external.metrics.k8s.io | * | read
  - events

  system:controller:job-controller
  - batch | jobs | read patch update
  - batch | jobs/status | update
  - batch | jobs/finalizers | update
  - core | pods | create delete list patch watch
  - events

  system:controller:legacy-service-account-token-cleaner
  - core | configmaps | get | kube-apiserver-legacy-service-account-token-tracking
  - core | secrets | delete patch

  system:controller:namespace-controller
  - core | namespaces | read delete
  - core | namespaces/finalize namespaces/status | update
  - * | * | read delete deletecollection

  system:controller:node-controller
  - core | nodes | read delete patch update
  - core | nodes/status | patch update
  - core | pods/status | patch update
  - core | pods | read delete
  - events

  system:controller:persistent-volume-binder
  - core | persistentvolumes | read create delete update
  - core | persistentvolumes/status | update
  - core | persistentvolumeclaims | read update
  - core | persistentvolumeclaims/status | update
  - core | pods | read create delete
  - storage.k8s.io | storageclasses | read
  - core | nodes | list watch
  - events
  - core | events | watch

  system:controller:pod-garbage-collector
  - core | pods | delete list watch
  - core | nodes | read
  - core | pods/status | patch

  system:controller:pv-protection-controller
  - core | persistentvolumes | read update
  - events

  system:controller:pvc-protection-controller
  - core | persistentvolumeclaims | read update
  - core | persistentvolumeclaims/status | update
  - core | pods | read
  - events

  system:controller:replicaset-controller
  - apps extensions | replicasets | read update
  - apps extensions | replicasets/status | update
  - apps extensions | replicasets/finalizers | update
  - core | pods | create delete list patch watch
  - events

  system:controller:replication-controller
  - core | replicationcontrollers | read update
  - core | replicationcontrollers/status | update
  - core | replicationcontrollers/finalizers | update
  - core | pods | create delete list patch watch
  - events

  system:controller:resource-claim-controller
  - core | pods | read
  - core | pods/finalizers | update
  - resource.k8s.io | resourceclaims | read create delete
  - resource.k8s.io | resourceclaims resourceclaims/status | patch update
  - core | pods/status | patch update
  - events
  - resource.k8s.io | resourceclaims/binding | patch update

  system:controller:resourcequota-controller
  - * | * | list watch
  - core | resourcequotas/status | update
  - events

  system:controller:root-ca-cert-publisher
  - core | configmaps | create update
  - events

  system:controller:route-controller
  - core | nodes | list watch
  - core | nodes/status | patch
  - events

  system:controller:selinux-warning-controller
  - events
  - core | persistentvolumes | read
  - core | persistentvolumeclaims | read
  - core | pods | read
  - storage.k8s.io | csidrivers | read

  system:controller:service-account-controller
  - core | serviceaccounts | create
  - events

  system:controller:service-cidrs-controller
  - networking.k8s.io | servicecidrs | read patch update
  - networking.k8s.io | servicecidrs/finalizers | patch update
  - networking.k8s.io | servicecidrs/status | patch update
  - networking.k8s.io | ipaddresses | read
  - events

  system:controller:service-controller
  - core | services | read
  - core | services/status | patch update
  - core | nodes | list watch
  - events

  system:controller:statefulset-controller
  - core | pods | list watch
  - apps | statefulsets | read
  - apps | statefulsets/status | update
  - apps | statefulsets/finalizers | update
  - core | pods | create delete get patch update
  - apps | controllerrevisions | read create delete patch update
  - core | persistentvolumeclaims | read create
  - core | persistentvolumeclaims | delete update
  - core | pods/finalizers | update
  - events

  system:controller:ttl-after-finished-controller
  - batch | jobs | read delete
  - events

  system:controller:ttl-controller
  - core | nodes | list patch update watch
  - events

  system:controller:validatingadmissionpolicy-status-controller
  - admissionregistration.k8s.io | validatingadmissionpolicies | read
  - admissionregistration.k8s.io | validatingadmissionpolicies/status | get patch update
  - events

  system:controller:volumeattributesclass-protection-controller
  - core | persistentvolumeclaims | read
  - core | persistentvolumes | read
  - storage.k8s.io | volumeattributesclasses | read update
  - events
`)
