// The controllers of workloads, by the names of kube-controller-manager, and with them the simulated scheduler, kubelets
// and nodes.
import { nextTurn } from '../base/turns.js'
import type { Controller, ControllerEnv } from '../controllers/start-controllers.js'
import type { Registry } from '../kinds/registry.js'
import type { ApiContext } from '../verbs/api-context.js'
import { startAutoscalerController } from './autoscaling/autoscaler-controller.js'
import { startWorkloadEnv, type WorkloadEnv } from './common/workload-env.js'
import { startCronJobController } from './cronjobs/cron-job-controller.js'
import { startDaemonSetController } from './daemonsets/daemon-set-controller.js'
import { startDeploymentController } from './deployments/deployment-controller.js'
import { startDisruptionController } from './disruption/disruption-controller.js'
import { startEndpointSliceController } from './endpoints/endpoint-slice-controller.js'
import { startEndpointsController } from './endpoints/endpoints-controller.js'
import { startJobController } from './jobs/job-controller.js'
import { startKubelets } from './kubelet/kubelet.js'

export type { PodFailure, PodReference, SimulatedPods } from './kubelet/pod-requests.js'

import { createSimulatedPods, type SimulatedPods } from './kubelet/pod-requests.js'
import { startNodeLifecycle } from './nodes/node-lifecycle.js'
import { startPodGarbageCollector } from './nodes/pod-gc.js'
import { startSimulatedNodes } from './nodes/simulated-nodes.js'
import { startTaintEviction } from './nodes/taint-eviction.js'
import { startReplicaSetController, startReplicationController } from './replicasets/replica-set-controller.js'
import { startScheduler } from './scheduler/scheduler.js'
import { startStatefulSetController } from './statefulsets/stateful-set-controller.js'
import { startEphemeralVolumes } from './volumes/ephemeral-volumes.js'
import { startVolumeBinder } from './volumes/volume-binder.js'
import type { WorkloadOptions } from './workload-options.js'

type Start = (w: WorkloadEnv) => Controller | Promise<Controller>

const CONTROLLERS: Readonly<Record<string, Start>> = {
  'cronjob-controller': startCronJobController,
  'daemonset-controller': startDaemonSetController,
  'deployment-controller': startDeploymentController,
  'disruption-controller': startDisruptionController,
  'endpoints-controller': startEndpointsController,
  'endpointslice-controller': startEndpointSliceController,
  'ephemeral-volume-controller': startEphemeralVolumes,
  'horizontal-pod-autoscaler-controller': startAutoscalerController,
  'job-controller': startJobController,
  'node-lifecycle-controller': startNodeLifecycle,
  'persistentvolume-binder-controller': startVolumeBinder,
  'pod-garbage-collector-controller': startPodGarbageCollector,
  'replicaset-controller': startReplicaSetController,
  'replicationcontroller-controller': startReplicationController,
  'statefulset-controller': startStatefulSetController,
  'taint-eviction-controller': startTaintEviction,
}

/** What a simulation offers to tests. */
export interface Simulation {
  readonly pods: SimulatedPods
  /** Resolves when no controller has anything to do until the clock moves or something is written. */
  idle(): Promise<void>
}

export interface WorkloadParts {
  readonly context: ApiContext
  readonly registry: Registry
  readonly env: ControllerEnv
  readonly options: WorkloadOptions
  /** Whether nodes, scheduler and kubelets are simulated; else only the controllers run. */
  readonly simulates: boolean
  isOn(controller: string): boolean
}

export interface Workloads extends Controller {
  readonly simulation: Simulation
}

/** Resolves when all of them run. */
export async function startWorkloads({
  context,
  registry,
  env,
  options,
  simulates,
  isOn,
}: WorkloadParts): Promise<Workloads> {
  const w = await startWorkloadEnv(context, registry, options, env, simulates)
  const starts = [
    ...(simulates ? [startSimulatedNodes, startKubelets] : []),
    ...(simulates && options.scheduler ? [startScheduler] : []),
    ...Object.entries(CONTROLLERS).flatMap(([name, start]) => (isOn(name) ? [start] : [])),
  ]
  const running: Controller[] = []
  for (const start of starts) running.push(await start(w))

  /** Work in one queue makes work in others, so all must be without work for some turns. */
  async function idle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      const before = w.activity()
      await Promise.all(running.map(each => each.idle()))
      await w.events.idle()
      await nextTurn()
      if (w.activity() !== before) quiet = -1
    }
  }

  return {
    simulation: { pods: createSimulatedPods(w), idle },
    idle,
    stop() {
      for (const controller of running) controller.stop()
      w.stop()
    },
  }
}

const QUIET_TURNS = 3
