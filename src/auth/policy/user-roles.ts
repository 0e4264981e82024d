// The cluster roles of users: administrators, the parts of `admin`, `edit` and `view`, discovery and monitoring.
import { type NamedRules, parseRoles } from './policy-text.js'

export const userRoles = (): NamedRules[] =>
  parseRoles(`
  cluster-admin
  - * | * | *
  - urls | * | *

  system:aggregate-to-admin
  - authorization.k8s.io | localsubjectaccessreviews | create
  - rbac.authorization.k8s.io | rolebindings roles | read write

  system:aggregate-to-edit
  - core | pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy | read
  - core | serviceaccounts | impersonate
  - core | pods pods/attach pods/exec pods/portforward pods/proxy | write
  - core | pods/eviction | create
  - core | configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets
      serviceaccounts services services/proxy | write
  - core | serviceaccounts/token | create
  - core events.k8s.io | events | write
  - apps | daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets
      statefulsets/scale | write
  - autoscaling | horizontalpodautoscalers | write
  - batch | cronjobs jobs | write
  - extensions | daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets
      replicasets/scale replicationcontrollers/scale | write
  - policy | poddisruptionbudgets | write
  - networking.k8s.io | ingresses networkpolicies | write
  - coordination.k8s.io | leases | read write
  - resource.k8s.io | resourceclaims resourceclaimtemplates | write

  system:aggregate-to-view
  - core | configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers
      replicationcontrollers/scale serviceaccounts services services/status | read
  - core | bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas
      resourcequotas/status | read
  - core | namespaces | read
  - core events.k8s.io | events | read
  - discovery.k8s.io | endpointslices | read
  - apps | controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status
      replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status | read
  - autoscaling | horizontalpodautoscalers horizontalpodautoscalers/status | read
  - batch | cronjobs cronjobs/status jobs jobs/status | read
  - extensions | daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses
      ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale |
      read
  - policy | poddisruptionbudgets poddisruptionbudgets/status | read
  - networking.k8s.io | ingresses ingresses/status networkpolicies | read
  - resource.k8s.io | resourceclaims resourceclaims/status resourceclaimtemplates | read

  system:basic-user
  - authorization.k8s.io | selfsubjectaccessreviews selfsubjectrulesreviews | create
  - authentication.k8s.io | selfsubjectreviews | create

  system:discovery
  - urls | /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/ | get

  system:monitoring
  - urls | /flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz | get
  - core | nodes/metrics | get

  system:public-info-viewer
  - urls | /healthz /livez /readyz /version /version/ | get

  system:service-account-issuer-discovery
  - urls | /.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/ | get
`)
