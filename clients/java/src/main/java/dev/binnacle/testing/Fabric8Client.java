package dev.binnacle.testing;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** A class of its own, because fabric8 may not be on the class path. */
final class Fabric8Client {
  private Fabric8Client() {}

  static KubernetesClient create(BinnacleServer server) {
    return new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(server.kubeconfig())).build();
  }
}
