package dev.binnacle.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;

@WithBinnacle
class ForkTest {
  @BeforeAll
  static void prepare(KubernetesClient client) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("prepared").withNamespace("default").endMetadata().build()).create();
  }

  @AfterAll
  static void goBack(BinnacleServer server) {
    server.reset();
  }

  @RepeatedTest(2)
  void eachTestHasWhatWasPrepared(KubernetesClient client) {
    assertEquals(1, client.configMaps().inNamespace("default").withName("prepared").delete().size());
  }
}
