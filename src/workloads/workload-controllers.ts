// The names of the controllers of workloads, for --controllers. Kept apart from the controllers, which are loaded only
// where they run.

export const WORKLOAD_CONTROLLERS: readonly string[] = [
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'ephemeral-volume-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'node-lifecycle-controller',
  'persistentvolume-binder-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'statefulset-controller',
  'taint-eviction-controller',
]
