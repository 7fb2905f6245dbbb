# The library that pressure.solver = "hypre" loads, where hypre and MPI are there. Nothing else is linked with them.
find_library(TARN_HYPRE HYPRE)
find_path(TARN_HYPRE_INCLUDE HYPRE.h PATH_SUFFIXES hypre)
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT TARN_HYPRE OR NOT TARN_HYPRE_INCLUDE OR NOT MPI_CXX_FOUND)
  return()
endif()

include(GNUInstallDirs)
add_library(tarn_hypre MODULE app/hypre/module.cpp)
set_target_properties(tarn_hypre PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set_target_properties(tarn_hypre PROPERTIES TARN_OPTIMIZE 1)
target_include_directories(tarn_hypre SYSTEM PRIVATE ${TARN_HYPRE_INCLUDE})
target_link_libraries(tarn_hypre PRIVATE tarn_flags ${TARN_HYPRE} MPI::MPI_CXX)
set(installed ${CMAKE_INSTALL_LIBDIR}/tarn)
install(TARGETS tarn_hypre LIBRARY DESTINATION ${installed})
set_source_files_properties(src/tarn/backend/hypre.cpp PROPERTIES COMPILE_DEFINITIONS
  "TARN_HYPRE_BUILT=\"${CMAKE_BINARY_DIR}/bin/libtarn_hypre.so\";TARN_HYPRE_INSTALLED=\"../${installed}/libtarn_hypre.so\"")
# Made whenever a program is.
add_dependencies(tarn_plain tarn_hypre)
target_link_libraries(tarn_plain PUBLIC ${CMAKE_DL_LIBS})
