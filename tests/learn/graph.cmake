# The graph network and the metrics' log.
add_executable(graph_network_test ${CMAKE_CURRENT_LIST_DIR}/graph_network_test.cc
                                  ${CMAKE_CURRENT_LIST_DIR}/sparse_test.cc)
# Which asks for the flags of hone_learn, fmt's among them.
target_precompile_headers(graph_network_test REUSE_FROM hone_learn)
target_link_libraries(graph_network_test PRIVATE hone_learn fmt::fmt nlohmann_json::nlohmann_json
                                                 GTest::gtest_main hone_warnings)
target_include_directories(graph_network_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
compile_together(graph_network_test 1 ${CMAKE_CURRENT_LIST_DIR}/graph_network_test.cc ${CMAKE_CURRENT_LIST_DIR}/sparse_test.cc)
gtest_discover_tests(graph_network_test TEST_PREFIX learn. PROPERTIES TIMEOUT 300)

add_executable(metrics_log_test ${CMAKE_CURRENT_LIST_DIR}/metrics_log_test.cc)
target_link_libraries(metrics_log_test PRIVATE hone_learn nlohmann_json::nlohmann_json fmt::fmt
                                               GTest::gtest_main hone_warnings)
gtest_discover_tests(metrics_log_test TEST_PREFIX learn. PROPERTIES TIMEOUT 300)
